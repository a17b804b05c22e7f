// The ACL of a credential (specification section 2.1): parses its rules and checks bind targets against them.

/** The target of a bind. `port: null` is an address for which the gateway chooses the port. */
export type BindTarget =
  | { type: 'domain'; domain: string }
  | { type: 'address'; host: string; port: number | null }
  | { type: 'label'; key: string; value: string };

export type AclRule =
  | { type: 'everything' }
  | { type: 'domain'; domain: string }
  | { type: 'address'; host: string; port: number }
  | { type: 'label'; key: string; value: string };

/** The ACL of a live session. The gateway replaces the rules when the credential changes. */
export interface Allowance {
  acl: readonly string[];
}

/** The error for a malformed rule; its message gives the reason. */
export class AclError extends Error {}

const RULE_MAX_BYTES = 1024;
const HOST_MAX_BYTES = 253;
const PORT_MAX = 65_535;
const MISPLACED_WILDCARD = '"*" may only be the whole first part of a domain, or a whole label key or value';
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/**
 * Reads one rule: `*`, or `bind:` and a domain (`example.com`, `*.example.com`), an address (`example.com:20000`) or
 * a label (`key=value`, either of which may be `*`). `bind:*` is the same as `*`.
 * @throws {AclError}
 */
export function parseAclRule(text: string): AclRule {
  if (Buffer.byteLength(text) > RULE_MAX_BYTES) throw new AclError(`it must be at most ${RULE_MAX_BYTES} bytes`);
  if (text === '*') return { type: 'everything' };
  if (!text.startsWith('bind:')) throw new AclError('it must be "*" or begin with "bind:"');
  const target = text.slice('bind:'.length);
  if (target === '') throw new AclError('nothing follows "bind:"');
  if (target === '*') return { type: 'everything' };

  const equals = target.indexOf('=');
  if (equals >= 0) {
    const [key, value] = [target.slice(0, equals), target.slice(equals + 1)];
    if (key === '' || value === '') throw new AclError('a label needs a key and a value');
    if ([key, value].some((part) => part.includes('*') && part !== '*')) throw new AclError(MISPLACED_WILDCARD);
    return { type: 'label', key, value };
  }

  const colon = target.lastIndexOf(':');
  if (colon >= 0) {
    const [host, port] = [target.slice(0, colon), target.slice(colon + 1)];
    if (!/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > PORT_MAX)
      throw new AclError('the port must be from 1 to 65535');
    return { type: 'address', host: hostName(host), port: Number(port) };
  }

  const wildcard = target.startsWith('*.');
  return { type: 'domain', domain: (wildcard ? '*.' : '') + hostName(wildcard ? target.slice(2) : target) };
}

/**
 * Whether a credential with these rules may bind the target. An empty list allows everything; otherwise one rule must allow the
 * target. The comparison of host names ignores case; labels must match exactly.
 * @param rules in the form that `parseAclRule` accepts; a malformed rule allows nothing.
 */
export function allows(rules: readonly string[], target: BindTarget): boolean {
  return rules.length === 0 || rules.some((text) => ruleAllows(tryParse(text), target));
}

function ruleAllows(rule: AclRule | null, target: BindTarget): boolean {
  switch (rule?.type) {
    case undefined:
      return false;
    case 'everything':
      return true;
    case 'domain': {
      if (target.type !== 'domain') return false;
      const domain = target.domain.toLowerCase();
      // `*.example.com` matches every name below example.com and the wildcard name itself, but not example.com.
      return rule.domain.startsWith('*.') ? domain.endsWith(rule.domain.slice(1)) : domain === rule.domain;
    }
    case 'address':
      return target.type === 'address' && target.host.toLowerCase() === rule.host && target.port === rule.port;
    case 'label':
      return (
        target.type === 'label' &&
        (rule.key === '*' || rule.key === target.key) &&
        (rule.value === '*' || rule.value === target.value)
      );
  }
}

function tryParse(text: string): AclRule | null {
  try {
    return parseAclRule(text);
  } catch {
    return null; // The store has only well-formed rules. A malformed one must allow nothing.
  }
}

function hostName(text: string): string {
  if (text.includes('*')) throw new AclError(MISPLACED_WILDCARD);
  if (text.length > HOST_MAX_BYTES) throw new AclError(`a name must be at most ${HOST_MAX_BYTES} bytes`);
  if (!text.split('.').every((label) => LABEL.test(label))) throw new AclError(`"${text}" is not a domain name`);
  return text.toLowerCase();
}
