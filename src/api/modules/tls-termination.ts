// The TLS termination module of an edge: who ends visitors' TLS, and from which version on.

import { type TlsTerminationSettings, tlsTerminationModule } from '../../edge/modules/tls.ts';
import { builder } from '../builder/builder.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { inLowerCase } from '../rest-words.ts';
import { httpsEdge, tlsEdge } from './hosts.ts';
import { type ApiModule, type ModuleHost, storedUnder } from './module.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  minVersion: 'The oldest version of TLS that the edge speaks: `1.2` or `1.3`.',
};

const TerminateAt = builder.enumType('TerminateAt', {
  description: 'Who ends the TLS of visitors.',
  extensions: inLowerCase(),
  values: {
    EDGE: { value: 'edge', description: 'The gateway: the agent gets what was in it.' },
    UPSTREAM: {
      value: 'upstream',
      description: 'The agent, or what is behind it: the gateway passes TLS through as it is.',
    },
  } as const,
});

const TlsTermination = builder.objectRef<TlsTerminationSettings>('TlsTermination').implement({
  description: 'Who ends the TLS of visitors, and how.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    terminateAt: t.expose('terminateAt', {
      type: TerminateAt,
      description: 'Who ends TLS. On an HTTPS edge that is always the edge.',
    }),
    minVersion: t.exposeString('minVersion', {
      description: `${text.minVersion} It says nothing where TLS goes through.`,
    }),
  }),
});

const TlsTerminationInput = builder.inputType('TlsTerminationInput', {
  description:
    'Who ends the TLS of visitors. A TLS edge without this module, or with it off, passes TLS through to the agent, ' +
    'unless it has mutual TLS, for which the edge ends it. An HTTPS edge always ends TLS.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    terminateAt: t.field({
      type: TerminateAt,
      description: 'Who ends TLS. Default `EDGE`, the only choice of an HTTPS edge.',
    }),
    minVersion: t.string({ description: `${text.minVersion} Default \`1.2\`.` }),
  }),
});

type Input = typeof TlsTerminationInput.$inferInput;

const VERSIONS = ['1.2', '1.3'] as const;

function check({ enabled, terminateAt, minVersion }: Input, host: ModuleHost, member: string): TlsTerminationSettings {
  const { version } = checkAll({
    terminateAt() {
      if (host.kind === 'httpsEdge' && terminateAt === 'upstream')
        throw new ApiError('terminateAtRefused', { member: `${member}terminateAt` });
    },
    version() {
      const known = VERSIONS.find((one) => one === (minVersion ?? '1.2'));
      if (known) return known;
      throw new ApiError('minVersionWrong', { member: `${member}minVersion` });
    },
  });
  return { enabled: enabled ?? true, terminateAt: terminateAt ?? 'edge', minVersion: version };
}

function tlsTerminationOf(host: ModuleHost): ApiModule<{ modules: unknown }, TlsTerminationSettings, Input> {
  return {
    host,
    ...storedUnder(tlsTerminationModule),
    noun: 'TLS termination',
    type: TlsTermination,
    input: TlsTerminationInput,
    selection: 'enabled terminateAt minVersion',
    write: (input, { member }) => ({ modules: { [tlsTerminationModule.key]: check(input, host, member) } }),
  };
}

export const tlsTerminationOfHttpsEdge = tlsTerminationOf(httpsEdge);
export const tlsTerminationOfTlsEdge = tlsTerminationOf(tlsEdge);
