#!/bin/sh
# Six kilobytes: more than a record keeps in itself.
i=0
while [ "$i" -lt 100 ]; do
  echo "line $i: the quick brown fox jumps over the lazy dog again"
  i=$((i + 1))
done
