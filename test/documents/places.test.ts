// How many files name a module or a sink: as many as one touches to add, change or remove it. Tests, generated files and the
// manual do not count.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moduleDescriptors } from '../../src/edge/modules/index.ts';
import { restNameOf, sinkNames } from '../../src/events/sinks/index.ts';
import { root } from '../support/root.ts';

/** Its descriptor, its GraphQL type, its line in the index, its form in the dashboard. */
const PLACES_MAX = 5;

const NOT_COUNTED =
  /^(test\/|prisma\/|src\/manual\/|src\/README\.md|schema\.graphql|package(-lock)?\.json|.*\.(png|ico|woff2?)$)/;

/** These names are also words of everyday code. Only what can be nothing but the module or the sink is counted. */
const ORDINARY_WORDS = ['compression', 'upstream', 'webhook', 'file', 'oauth', 'oidc'];

const ACTION = 'traffic policies have an action of the same name';
const CAPTURED = 'captured requests have a field of the same name';
const SERVICE = 'what a tunnel leads to is called so in the agent';
const STATE = 'the state of the breaker is a field of its own, `circuitBreakerState`';

/** Places that are not counted, by name, with the reason. */
const EXCEPTIONS: Record<string, Record<string, string>> = {
  basicAuth: {
    'src/policy/actions/authentication/basic-auth.ts': ACTION,
    'src/policy/actions/registry.ts': ACTION,
    'src/policy/cel/functions/encodings.ts': 'the language of policies has a function `basic_auth.encode`',
  },
  circuitBreaker: {
    'src/policy/actions/circuit-breaker.ts': ACTION,
    'src/policy/actions/registry.ts': ACTION,
    'src/api/dependencies.ts': STATE,
    'src/api/resources/https-edge-routes.ts': STATE,
    'src/gateway/traffic-state.ts': STATE,
    'src/dashboard/screens/edges/modules/circuit-breaker-status.tsx': STATE,
    'src/dashboard/screens/edges/routes/routes.graphql': STATE,
  },
  ipRestriction: {
    'src/api/resources/capture/captured-request-type.ts': 'an example in a description of the schema',
    'src/api/resources/ip-restrictions.ts': 'accounts have restrictions, too, of the same name in REST',
    'src/edge/restrictions/address-gate.ts': 'what accounts restrict acts as the module does',
  },
  mutualTls: {
    'src/policy/actions/terminate-tls.ts': 'the specification has settings of the action whose names begin alike',
    'src/store/edges/affected-edges.ts': 'what a module refers to is a relation, which this statement reads',
    'src/api/resources/certificate-authorities.ts': 'an authority lists the edges that trust it by that relation',
  },
  requestHeaders: {
    'src/api/resources/capture/captured-request-type.ts': CAPTURED,
    'src/dashboard/screens/edges/modules/policy/captured-sample.ts': CAPTURED,
    'src/dashboard/screens/traffic/captured-request.ts': CAPTURED,
    'src/dashboard/screens/traffic/replay-edits.ts': CAPTURED,
    'src/dashboard/screens/traffic/request-detail.tsx': CAPTURED,
    'src/dashboard/screens/traffic/traffic.graphql': CAPTURED,
  },
  responseHeaders: {
    'src/api/resources/capture/captured-request-type.ts': CAPTURED,
    'src/dashboard/screens/traffic/request-detail.tsx': CAPTURED,
    'src/dashboard/screens/traffic/traffic.graphql': CAPTURED,
  },
  upstream: {
    'agent/README.md': SERVICE,
    'agent/src/client/client-tunnel.ts': SERVICE,
    'agent/src/client/forward.ts': SERVICE,
  },
};

/** It is more than a module: agents send it apart from the others, and `src/policy` and the store know it. */
const LAYER = 'trafficPolicy';

/** The text of every tracked file that counts. */
const texts = new Map<string, string>();
if (existsSync(join(root, '.git'))) {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0');
  for (const file of tracked)
    if (file && !NOT_COUNTED.test(file) && existsSync(join(root, file)))
      texts.set(file, readFileSync(join(root, file), 'utf8'));
}

function patternOf(name: string): RegExp {
  if (ORDINARY_WORDS.includes(name))
    return new RegExp(
      `(modules|sinks|\\.)/${name}\\.ts'|^ +${name}(,|: \\{)|\\b${name}Module\\b|export const ${name}\\b`,
      'm',
    );
  return new RegExp(`${name}|${restNameOf(name as (typeof sinkNames)[number])}`);
}

function placesOf(name: string): string[] {
  const pattern = patternOf(name);
  return [...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file);
}

const modules = moduleDescriptors.map(({ key }) => key).filter((key) => key !== LAYER);

describe.skipIf(texts.size === 0)('to add, change or remove one, five files are enough:', () => {
  test.each([...modules, ...sinkNames, 'azure'])('%s', (name) => {
    const excepted = Object.keys(EXCEPTIONS[name] ?? {});
    const places = placesOf(name);
    expect(places.length, 'its descriptor and its line').toBeGreaterThan(1);
    const counted = places.filter((file) => !excepted.includes(file));
    expect(counted.length, `${name} is named in ${counted.join(', ')}`).toBeLessThanOrEqual(PLACES_MAX);
    expect(
      excepted.filter((file) => !places.includes(file)),
      'exceptions that are needed no longer',
    ).toEqual([]);
  });

  test('every exception is of a module or a sink that there is', () => {
    expect(Object.keys(EXCEPTIONS).filter((name) => ![...modules, ...sinkNames].includes(name))).toEqual([]);
  });
});

test.each(sinkNames)('the manual has a row for the target %s', (name) => {
  const manual = readFileSync(join(root, 'src/manual/events.md'), 'utf8');
  const targets = /^## Targets\n[\s\S]*?(?=^## )/m.exec(manual)?.[0] ?? '';
  expect(targets).toMatch(new RegExp(`^\\| .*\`${restNameOf(name)}\`.* \\| `, 'm'));
});
