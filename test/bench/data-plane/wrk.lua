-- Tells the figures of a run to a program, exactly: the text of wrk itself is rounded for people. Times in microseconds.
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"time":%d,"p50":%d,"p99":%d,"errors":%d,"read":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout, summary.bytes
  ))
end
