#!/bin/sh
# Arguments come as JSON on standard input; PAWL_KEY is the same whenever this call is made again.
set -eu
amount=$(sed -n 's/.*"amount"[: ]*\(-\{0,1\}[0-9][0-9]*\).*/\1/p')
echo "$PAWL_KEY $amount" >>ledger.txt
echo "charged $amount"
