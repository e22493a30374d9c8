#!/bin/sh
echo "$PAWL_KEY gate" >>ledger.once
while [ ! -e gate ]; do sleep 0.02; done
echo opened
