// The traffic policy of a route, an edge or a tunnel, as a module.

import { createHash } from 'node:crypto';
import { joinPolicy, type PolicySecret } from '../../policy/secrets/policy-secrets.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';

/** A traffic policy: a document in JSON or YAML. */
export interface TrafficPolicySettings extends ModuleSettings {
  value: string;
}

/** The module as a row has it. */
export type StoredPolicy = PlainPolicy | SealedPolicy;

interface PlainPolicy extends TrafficPolicySettings {
  /** Null: it has no secrets. Missing: a version that sealed none has written it. */
  sealed?: null;
}

interface SealedPolicy extends ModuleSettings {
  /** The document, with masks. Not `value`: such a version would take a mask for the password, and let visitors in with it. */
  masked: string;
  /** The secrets. */
  sealed: string;
}

/** The compiler of policies, with the language of their conditions. */
let compiler: typeof import('../../policy/compile/policy.ts') | undefined;

export const trafficPolicyModule: ModuleDescriptor<TrafficPolicySettings, StoredPolicy> = {
  key: 'trafficPolicy',
  phase: 'policy',
  isStateful: true,
  isCompiled: true,
  async load() {
    compiler ??= await import('../../policy/compile/policy.ts');
  },
  create({ value }, owner, environment) {
    if (!compiler) throw new Error('load() is to be awaited before create()');
    return compiler.compilePolicyText(value, owner, environment);
  },
  mapSecrets: (stored, change) =>
    'masked' in stored ? { ...stored, sealed: change(stored.sealed, secretPartOf(stored.masked)) } : stored,
  resolve(stored) {
    const { enabled } = stored;
    if (!('masked' in stored)) return { enabled, value: stored.value };
    const secrets: PolicySecret[] = JSON.parse(stored.sealed);
    return { enabled, value: joinPolicy({ value: stored.masked, secrets }) };
  },
  bindOption: {
    // The older shape comes as an object.
    names: ['TrafficPolicy', 'Policy'],
    isAsked: (options, name) => name !== 'TrafficPolicy' || options.text(name) !== '',
    read(options, name) {
      const value = name === 'TrafficPolicy' ? options.text(name) : JSON.stringify(options.object(name));
      return { enabled: true, value };
    },
  },
};

/** What the secrets are bound to: in another text, one would come to stand where it can be read. */
export function secretPartOf(masked: string): string {
  return `:${createHash('sha256').update(masked).digest('base64url')}`;
}
