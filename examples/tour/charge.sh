#!/bin/sh
# A bank: books the amount under the key of the call, and then takes its time to answer.
set -eu
amount=$(sed -n 's/.*"amount"[: ]*\([0-9][0-9]*\).*/\1/p')
echo "$PAWL_KEY $amount" >>ledger.txt
[ ! -e slow_bank ] || sleep 10
echo "charged $amount"
