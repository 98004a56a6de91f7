#!/bin/bash
# Signs files with minisign, if there is a key; else says that nothing is signed.
#
#   KEY=FILE sign.sh WORDS FILE...    FILE.minisig, whose trusted comment is "nodeup WORDS NAME"; without a time, so that
#                                     the same bytes have the same signature
set -euo pipefail

words=$1
shift
if [ -z "${KEY:-}" ]; then
	# a signature of other bytes
	for file; do rm -f "$file.minisig"; done
	echo "not signed: KEY=FILE signs with a key of minisign -G" >&2
	exit 0
fi
for file; do
	minisign -S -s "$KEY" -t "nodeup $words ${file##*/}" -m "$file" >/dev/null
done
