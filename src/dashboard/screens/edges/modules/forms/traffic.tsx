// Modules that change traffic or protect the upstream.

import { headerNameValidator, validateHeaderValue } from '../../../../ui/forms/header-validators.ts';
import { CircuitBreakerStatus } from '../circuit-breaker-status.tsx';
import { flagField, keyValueField, listField, numberField, stringList, textField } from '../field-kinds.tsx';
import type { ModuleForm } from '../module-form.ts';
import { PolicyDryRunPanel } from '../policy/dry-run.tsx';
import { documentField, rulesField } from '../policy/fields.tsx';
import { hasSecrets } from '../policy/secrets.ts';
import { changesInWords } from './summaries.ts';

export const trafficForms = {
  trafficPolicy: {
    title: 'Traffic policy',
    noun: 'traffic policy',
    description: 'Rules for traffic: what is done when. They can be tried on a request before they are set.',
    fields: [documentField('value')],
    summary: ({ value }) => `${String(value).split('\n').length} lines`,
    hasSecrets,
    Panel: PolicyDryRunPanel,
  },
  policy: {
    title: 'Policy (older shape)',
    noun: 'policy',
    description:
      'The traffic policy in its older shape, two lists of rules. It is the same module: what is saved here replaces the document.',
    isAlias: true,
    fields: [rulesField('inbound', 'Inbound'), rulesField('outbound', 'Outbound')],
    summary: ({ inbound, outbound }) => `${ruleCount(inbound)} inbound, ${ruleCount(outbound)} outbound`,
    hasSecrets,
    Panel: PolicyDryRunPanel,
  },
  circuitBreaker: {
    title: 'Circuit breaker',
    noun: 'circuit breaker',
    description: 'Stops sending requests to an upstream that keeps failing, until it has recovered.',
    fields: [
      numberField('errorThresholdPercentage', {
        label: 'Share of failures that trips it',
        help: 'From 0 to 1, not to 100: 0.5 is every second request.',
        initial: 0.5,
        min: 0,
        max: 1,
        isDecimal: true,
      }),
      numberField('volumeThreshold', {
        label: 'Fewest requests',
        help: 'With fewer in the window it never trips.',
        unit: 'requests',
        initial: 20,
        min: 0,
      }),
      numberField('rollingWindow', {
        label: 'Rolling window',
        help: 'In which requests are counted.',
        unit: 'seconds',
        initial: 10,
        min: 1,
      }),
      numberField('numBuckets', {
        label: 'Buckets',
        help: 'In which the window is counted; 1 to 128. More of them forget more evenly.',
        initial: 10,
        min: 1,
        max: 128,
      }),
      numberField('trippedDuration', {
        label: 'Pause once it has tripped',
        help: 'Before one request is let through to see how the upstream is.',
        unit: 'seconds',
        initial: 10,
        min: 1,
      }),
    ],
    summary: ({ errorThresholdPercentage: share, volumeThreshold, rollingWindow }) =>
      `trips at ${Math.round(Number(share) * 1000) / 10} % of at least ${volumeThreshold} requests in ${rollingWindow} s`,
    Status: CircuitBreakerStatus,
  },
  compression: {
    title: 'Compression',
    noun: 'compression',
    description:
      'Compresses answers for visitors who take it, in the best of br, gzip and deflate. What is compressed already, is short, or says no-transform goes on as it is.',
    fields: [],
  },
  requestHeaders: headers('request'),
  responseHeaders: headers('response'),
  websocketTcpConverter: {
    title: 'WebSocket-TCP converter',
    noun: 'WebSocket-TCP converter',
    description:
      'Ends WebSockets at the edge: the upstream gets the bytes of their messages as a TCP connection, and what it sends goes back in binary messages.',
    fields: [],
  },
  upstream: {
    title: 'Upstream',
    noun: 'upstream',
    description: 'How the service is asked: for how long, by which name, and for visitors who end their side first.',
    fields: [
      numberField('timeout', {
        label: 'Time-out',
        help: 'How long the service may take until its response begins.',
        unit: 'seconds',
        initial: null,
        placeholder: 'as everywhere',
        min: 1,
        max: 3600,
      }),
      textField('hostHeader', {
        label: 'Host header',
        help: 'rewrite: the address that its tunnel or backend leads to; or a name, as localhost:3000. Responses lead to the endpoint again.',
        placeholder: 'that of the endpoint',
        initial: '',
      }),
      flagField('allowHalfClose', { label: 'Visitors who have ended their side get the response' }),
    ],
    arrange: ({ hostHeader, ...others }) => ({ ...others, hostHeader: hostHeader || null }),
    summary: ({ timeout, hostHeader, allowHalfClose }) =>
      [timeout && `answers within ${timeout} s`, hostHeader && `Host: ${hostHeader}`, allowHalfClose && 'half-close']
        .filter(Boolean)
        .join(', ') || 'as everywhere',
  },
} satisfies Record<string, ModuleForm>;

function headers(side: 'request' | 'response'): ModuleForm {
  const isRequest = side === 'request';
  return {
    title: isRequest ? 'Request headers' : 'Response headers',
    noun: `${side} headers`,
    description: `Header fields that are removed from ${isRequest ? 'requests before the upstream' : 'answers before the visitor'} gets them, and those that are added.`,
    fields: [
      keyValueField('add', {
        label: 'Add',
        itemName: 'header field',
        placeholders: ['x-site', 'berlin'],
        maxPairs: 50,
        validateName: headerNameValidator(side),
        validateValue: validateHeaderValue,
        help: 'Each is added as a line of its own.',
      }),
      listField('remove', {
        label: 'Remove',
        itemName: 'name',
        placeholder: isRequest ? 'x-internal' : 'server',
        maxLines: 50,
        validateLine: headerNameValidator(side),
        help: 'They are removed before anything is added.',
      }),
    ],
    summary: ({ add, remove }) => changesInWords({ adds: Object.keys(add as object), removes: stringList(remove) }),
  };
}

function ruleCount(rules: unknown): string {
  const count = Array.isArray(rules) ? rules.length : 0;
  return `${count} rule${count === 1 ? '' : 's'}`;
}
