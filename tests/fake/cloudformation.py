#!/usr/bin/python3
"""CloudFormation's Query API as far as an instance needs it, strict, by ec2.py.

usage: cloudformation.py ADDRESS PORT STATE.json [LOG [--stay]]

STATE.json: {"region", "keys": as of ec2.py, "stacks": {name: {"state", "resources": {name: {instance: status}}}}}
"""
import ec2
from ec2 import Refused


class Handler(ec2.Handler):
    service, version = "cloudformation", "2010-05-15"

    def success(self, action, answer):
        return (f'<{action}Response xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">'
                f"<ResponseMetadata><RequestId>REQ1</RequestId></ResponseMetadata></{action}Response>")

    def failure(self, code, message):
        return ('<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>'
                f"<Code>{code}</Code><Message>{message}</Message></Error><RequestId>REQ1</RequestId></ErrorResponse>")

    def SignalResource(self, form, state):
        if set(form) != {"Action", "Version", "LogicalResourceId", "StackName", "Status", "UniqueId"}:
            raise Refused("ValidationError", "The request has other parameters")
        if form["Status"] not in ("SUCCESS", "FAILURE"):
            raise Refused("ValidationError", "The status is SUCCESS or FAILURE")
        stack = state["stacks"].get(form["StackName"])
        if not stack:
            raise Refused("ValidationError", f"Stack {form['StackName']} does not exist")
        if stack["state"] != "CREATE_IN_PROGRESS":
            raise Refused("ValidationError", f"Stack arn:aws:cloudformation:us-west-2:1:stack/{form['StackName']}/u is in {stack['state']} state and cannot be signaled")
        if form["LogicalResourceId"] not in stack["resources"]:
            raise Refused("ValidationError", f"Resource {form['LogicalResourceId']} does not exist for stack {form['StackName']}")
        got = stack["resources"][form["LogicalResourceId"]]
        if form["UniqueId"] in got and form["Status"] == "SUCCESS":
            raise Refused("ValidationError", f"Signal with ID {form['UniqueId']} for resource {form['LogicalResourceId']} already exists. "
                          "Signals may only be updated with a FAILURE status.")
        got[form["UniqueId"]] = form["Status"]
        return {}


if __name__ == "__main__":
    ec2.main(Handler)
