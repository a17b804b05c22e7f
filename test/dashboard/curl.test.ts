// What is shown of a request beside its fields: a command that repeats it, and the parts of the time that it took.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlCommand } from '../../src/dashboard/screens/requests/curl.ts';
import { timingParts } from '../../src/dashboard/screens/requests/timing-parts.ts';

/** What a shell makes of a command: its arguments. */
function argumentsOf(command: string): string[] {
  const shown = execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`]).toString();
  return shown.split('\0').slice(0, -1);
}

test('a command of curl is one for a shell, whatever is in the request', () => {
  const url = `https://app.test/it's?a="$(id)"&b=\`id\``;
  expect(argumentsOf(curlCommand({ method: 'GET', url }))).toEqual([url]);
  expect(argumentsOf(curlCommand({ method: 'DELETE', url }))).toEqual(['--request', 'DELETE', url]);
  const headers = [
    ['Host', 'app.test'],
    ['X-Quote', "it's; rm -rf /"],
    ['Content-Length', '5'],
  ] as const;
  const sent = argumentsOf(curlCommand({ method: 'POST', url, headers, body: "@a'\nb" }));
  expect(sent).toEqual([url, '--header', "X-Quote: it's; rm -rf /", '--data-raw', "@a'\nb"]);
});

test('the parts of a request’s time make up the whole; what never reached a service has no wait for it', () => {
  const whole = { upstreamMilliseconds: 2, firstByteMilliseconds: 5, durationMilliseconds: 9 };
  expect(timingParts(whole).map(({ from, to }) => [from, to])).toEqual([
    [0, 2],
    [2, 5],
    [5, 9],
  ]);
  const refused = { upstreamMilliseconds: null, firstByteMilliseconds: 1, durationMilliseconds: 2 };
  expect(timingParts(refused).map(({ name }) => name)).toEqual(['In the gateway', 'Until it was sent']);
});
