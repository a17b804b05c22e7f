// The modules of a route of an HTTPS edge.

import { all, atMost } from '../../../ui/checks.ts';
import { Breaker } from '../breaker.tsx';
import { headerName, headerValue } from './headers.ts';
import { lines, number, pairs, text, textsIn } from './member.tsx';
import type { Module } from './module.ts';
import { knownIn, people } from './people.tsx';
import { backend, ipRestriction, policy, trafficPolicy } from './shared.tsx';
import { secret, webhookProvider } from './webhook.tsx';

const circuitBreaker: Module = {
  field: 'circuitBreaker',
  title: 'Circuit breaker',
  noun: 'circuit breaker',
  what: 'Stops sending requests to an upstream that keeps failing, until it has recovered.',
  members: [
    number('errorThresholdPercentage', {
      label: 'Share of failures that trips it',
      help: 'From 0 to 1, not to 100: 0.5 is every second request.',
      initial: 0.5,
      min: 0,
      max: 1,
      isFraction: true,
    }),
    number('volumeThreshold', {
      label: 'Fewest requests',
      help: 'With fewer in the window it never trips.',
      unit: 'requests',
      initial: 20,
      min: 0,
    }),
    number('rollingWindow', {
      label: 'Rolling window',
      help: 'In which requests are counted.',
      unit: 'seconds',
      initial: 10,
      min: 1,
    }),
    number('numBuckets', {
      label: 'Buckets',
      help: 'In which the window is counted; 1 to 128. More of them forget more evenly.',
      initial: 10,
      min: 1,
      max: 128,
    }),
    number('trippedDuration', {
      label: 'Pause once it has tripped',
      help: 'Before one request is let through to see how the upstream is.',
      unit: 'seconds',
      initial: 10,
      min: 1,
    }),
  ],
  summary: ({ errorThresholdPercentage: share, volumeThreshold, rollingWindow }) =>
    `trips at ${Math.round(Number(share) * 1000) / 10} % of at least ${volumeThreshold} requests in ${rollingWindow} s`,
  Aside: Breaker,
};

function headers(side: 'request' | 'response'): Module {
  const isRequest = side === 'request';
  return {
    field: `${side}Headers`,
    title: isRequest ? 'Request headers' : 'Response headers',
    noun: `${side} headers`,
    what: `Header fields that are removed from ${isRequest ? 'requests before the upstream' : 'answers before the visitor'} gets them, and those that are added.`,
    members: [
      pairs('add', {
        label: 'Add',
        line: 'header field',
        placeholders: ['x-site', 'berlin'],
        most: 50,
        checkName: headerName(side),
        checkValue: headerValue,
        help: 'Each is added as a line of its own.',
      }),
      lines('remove', {
        label: 'Remove',
        line: 'name',
        placeholder: isRequest ? 'x-internal' : 'server',
        most: 50,
        checkLine: headerName(side),
        help: 'They are removed before anything is added.',
      }),
    ],
    summary: ({ add, remove }) => inWords({ adds: Object.keys(add as object), removes: textsIn(remove) }),
  };
}

const patterns = { line: 'pattern', most: 100, placeholder: '(?i)bot', checkLine: atMost(1024) };

export const routeModules: readonly Module[] = [
  backend,
  ipRestriction,
  circuitBreaker,
  {
    field: 'compression',
    title: 'Compression',
    noun: 'compression',
    what: 'Compresses answers for visitors who take it, in the best of br, gzip and deflate. What is compressed already, is short, or says no-transform goes on as it is.',
    members: [],
  },
  headers('request'),
  headers('response'),
  {
    field: 'webhookVerification',
    title: 'Webhook verification',
    noun: 'webhook verification',
    what: 'Turns away requests that the provider of webhooks has not signed.',
    members: [webhookProvider('provider'), secret('secret')],
    summary: ({ provider }) => `signed by ${provider}`,
    hasSecrets: () => true,
  },
  {
    field: 'websocketTcpConverter',
    title: 'WebSocket-TCP converter',
    noun: 'WebSocket-TCP converter',
    what: 'Ends WebSockets at the edge: the upstream gets the bytes of their messages as a TCP connection, and what it sends goes back in binary messages.',
    members: [],
  },
  {
    field: 'userAgentFilter',
    title: 'User agent filter',
    noun: 'user agent filter',
    what: 'Turns away visitors by their User-Agent. A pattern is a regular expression (RE2) that matches anywhere in it.',
    members: [
      lines('allow', {
        ...patterns,
        label: 'Let in',
        help: 'Whoever matches one is let in, even if a pattern below matches too. Alone, it lets in nobody else.',
      }),
      lines('deny', {
        ...patterns,
        label: 'Turn away',
        help: 'Visitors without a User-Agent are let in only by the pattern ^$ above.',
      }),
    ],
    summary: ({ allow, deny }) => inWords({ 'lets in': textsIn(allow), 'turns away': textsIn(deny) }),
  },
  {
    field: 'basicAuth',
    title: 'Basic auth',
    noun: 'basic auth',
    what: 'Lets in only visitors who know a user name and its password.',
    members: [
      people('credentials'),
      text('realm', {
        label: 'Realm',
        help: 'What visitors are told they need a password for.',
        initial: 'gateway',
        check: all(atMost(128), (value) =>
          /^[\x20-\x7e]*$/.test(value) ? null : 'Only printable ASCII characters are taken.',
        ),
      }),
    ],
    summary: (settings) => knownIn(settings, 'credentials').join(', '),
    hasSecrets: () => true,
  },
  trafficPolicy,
  policy,
];

/** As `adds x-site, x-country; removes server`. */
function inWords(lists: Record<string, readonly string[]>): string {
  const said = Object.entries(lists).flatMap(([verb, names]) =>
    names.length > 0 ? [`${verb} ${names.join(', ')}`] : [],
  );
  return said.join('; ') || 'changes nothing';
}
