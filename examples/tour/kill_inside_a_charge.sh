#!/bin/sh
. ./tour/stage.sh

touch slow_bank
start_child
echo "Started a child pawl (process $child). This time the bank books and is slow to answer."
wait_for charges_booked 1
pid=$child
kill_child
rm slow_bank
echo "The bank has booked the charge, but its answer never came. Then: kill -9 $pid."
echo "Now: pawl resume customer-42"
code=0
on_the_stage resume customer-42 >resumed.log 2>&1 || code=$?
grep 'in doubt' resumed.log | head -n 1 | sed 's/^ */    /'
echo "It ended with exit code $code: the run waits for a person instead of charging again."
key=$(cut -d ' ' -f 1 ledger.txt)
echo "The person looks at the ledger. The key is there, so the charge did happen:"
echo "    $(echo "$key" | cut -c 1-12)… 100"
echo "Now: pawl resolve customer-42 c1 --happened 'charged 100', and pawl resume customer-42"
on_the_stage resolve customer-42 c1 --happened 'charged 100' >/dev/null
on_the_stage resume customer-42 2>&1 | sed 's/^/    /'
show_ledger
check_ledger
