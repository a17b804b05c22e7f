// The upstream module of a route: for how long its service is asked, by which name, and for visitors who end their side first.

import {
  hostHeaderProblem,
  timeoutProblem,
  type UpstreamSettings,
  upstreamModule,
} from '../../edge/modules/upstream.ts';
import { builder } from '../builder/builder.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { httpsEdgeRoute } from './hosts.ts';
import { type ApiModule, storedUnder } from './module.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  timeout:
    'Seconds that the service may take until its response begins; null: as everywhere. What the gateway allows at most ' +
    '(`UPSTREAM_TIMEOUT_MAX_MS`) holds, too.',
  hostHeader:
    'By which name the service is asked: `rewrite` for the address that its tunnel or backend leads to, or a host, as ' +
    '`localhost:3000`, or an origin, as `https://printer.lan`. Null: by that of the endpoint, and nothing is rewritten.',
  allowHalfClose: 'Whether visitors who have ended their side of the connection still get the response.',
};

const Upstream = builder.objectRef<UpstreamSettings>('Upstream').implement({
  description: 'How the service of a route is asked.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    timeout: t.expose('timeout', { type: 'UInt32', nullable: true, description: text.timeout }),
    hostHeader: t.exposeString('hostHeader', { nullable: true, description: text.hostHeader }),
    allowHalfClose: t.exposeBoolean('allowHalfClose', { description: text.allowHalfClose }),
  }),
});

const UpstreamInput = builder.inputType('UpstreamInput', {
  description: 'How the service is asked. Every member may be left out, and is then as everywhere.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    timeout: t.field({ type: 'UInt32', description: `${text.timeout} 1 to 3600.` }),
    hostHeader: t.string({ description: text.hostHeader }),
    allowHalfClose: t.boolean({ description: `${text.allowHalfClose} Default false.` }),
  }),
});

type Input = typeof UpstreamInput.$inferInput;

function check({ enabled, timeout, hostHeader, allowHalfClose }: Input, member: string): UpstreamSettings {
  const checkMember = (name: string, reason: string | undefined) => {
    if (reason !== undefined) throw new ApiError('upstreamSettingWrong', { member: `${member}${name}`, reason });
  };
  checkAll({
    timeout: () => timeout != null && checkMember('timeout', timeoutProblem(timeout)),
    hostHeader: () => hostHeader != null && checkMember('hostHeader', hostHeaderProblem(hostHeader)),
  });
  return {
    enabled: enabled ?? true,
    timeout: timeout ?? null,
    hostHeader: hostHeader ?? null,
    allowHalfClose: allowHalfClose ?? false,
  };
}

export const upstream: ApiModule<{ modules: unknown }, UpstreamSettings, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(upstreamModule),
  noun: 'upstream',
  type: Upstream,
  input: UpstreamInput,
  selection: 'enabled timeout hostHeader allowHalfClose',
  write: (input, { member }) => ({ modules: { [upstreamModule.key]: check(input, member) } }),
};
