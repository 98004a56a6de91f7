#!/usr/bin/python3
"""Auto Scaling's Query API as far as an instance needs it, strict, by ec2.py.

usage: autoscaling.py ADDRESS PORT STATE.json [LOG [--stay]]

STATE.json: {"region", "keys": as of ec2.py, "groups": {name: {"hooks": {name: [instances that wait for it]}}},
             "health": {instance: its status}}
"""
import ec2
from ec2 import Refused, numbered, xml


class Handler(ec2.Handler):
    service, version = "autoscaling", "2011-01-01"

    def success(self, action, answer):
        return (f'<{action}Response xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><{action}Result>{answer}</{action}Result>'
                f"<ResponseMetadata><RequestId>REQ1</RequestId></ResponseMetadata></{action}Response>")

    def failure(self, code, message):
        return ('<ErrorResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><Error><Type>Sender</Type>'
                f"<Code>{code}</Code><Message>{message}</Message></Error><RequestId>REQ1</RequestId></ErrorResponse>")

    def group(self, form, state, *keys):
        if set(form) != {"Action", "Version", "AutoScalingGroupName", *keys}:
            raise Refused("ValidationError", "The request has other parameters than these: " + ", ".join(keys))
        if form["AutoScalingGroupName"] not in state["groups"]:
            raise Refused("ValidationError", "AutoScalingGroup name not found - " + form["AutoScalingGroupName"])
        return state["groups"][form["AutoScalingGroupName"]]["hooks"]

    def DescribeLifecycleHooks(self, form, state):
        hooks = self.group(form, state, "LifecycleHookNames.member.1")
        wanted = numbered(form, "LifecycleHookNames.member")
        return xml("LifecycleHooks", {"member": {"LifecycleHookName": h, "DefaultResult": "ABANDON", "HeartbeatTimeout": 600}}
                   if (h := wanted[0]) in hooks else "")

    def CompleteLifecycleAction(self, form, state):
        hooks = self.group(form, state, "InstanceId", "LifecycleHookName", "LifecycleActionResult")
        waits = hooks.get(form["LifecycleHookName"], [])
        if form["LifecycleActionResult"] not in ("CONTINUE", "ABANDON"):
            raise Refused("ValidationError", "The result is CONTINUE or ABANDON")
        if form["InstanceId"] not in waits:
            raise Refused("ValidationError", "No active Lifecycle Action found with instance ID " + form["InstanceId"])
        waits.remove(form["InstanceId"])
        return ""

    def SetInstanceHealth(self, form, state):
        if set(form) != {"Action", "Version", "HealthStatus", "InstanceId", "ShouldRespectGracePeriod"}:
            raise Refused("ValidationError", "The request has other parameters")
        if form["HealthStatus"] not in ("Healthy", "Unhealthy") or form["ShouldRespectGracePeriod"] not in ("true", "false"):
            raise Refused("ValidationError", "The request has other values")
        if form["InstanceId"] not in state.get("health", {}):
            raise Refused("ValidationError", "Instance Id not found - " + form["InstanceId"])
        state["health"][form["InstanceId"]] = form["HealthStatus"]
        return ""


if __name__ == "__main__":
    ec2.main(Handler)
