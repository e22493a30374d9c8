#!/bin/sh
# The world outside: notes each effect in a ledger, with the key of the call, in one write.
read -r input || :
echo "$PAWL_KEY $input" >>"ledger.$1"
echo "did $input"
