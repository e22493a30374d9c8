#!/bin/sh
. ./tour/stage.sh

start_child
echo "Started a child pawl (process $child) that makes two charges, 100 and 200."
wait_for charges_recorded 1
pid=$child
kill_child
echo "The first charge is made and its result is in the journal. Then: kill -9 $pid."
show_ledger
echo "Now: pawl resume customer-42"
on_the_stage resume customer-42 2>&1 | sed 's/^/    /'
show_ledger
check_ledger
