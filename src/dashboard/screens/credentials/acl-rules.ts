// Conversion between ACL rules and the parts that the form edits. The gateway explains and validates the rules.

export type RuleKind = 'name' | 'below' | 'address' | 'label' | 'everything';

/** One rule in the form. */
export interface RuleLine {
  kind: RuleKind;
  /** A name or a host; for a label, its key. */
  first: string;
  /** A port; for a label, its value. */
  second: string;
}

export const ruleKinds: readonly { kind: RuleKind; title: string; first?: string; second?: string }[] = [
  { kind: 'name', title: 'One name', first: 'app.example.com' },
  { kind: 'below', title: 'Any name below', first: 'example.com' },
  { kind: 'address', title: 'TCP address', first: '1.example.com', second: '20000' },
  { kind: 'label', title: 'Label', first: 'key', second: 'value' },
  { kind: 'everything', title: 'Everything' },
];

const BIND_PREFIX = 'bind:';

/** The rule of a line; null while a part is missing. */
export function lineToRule({ kind, first, second }: RuleLine): string | null {
  const [one, two] = [first.trim(), second.trim()];
  if (kind === 'everything') return '*';
  if (one === '') return null;
  if (kind === 'name') return BIND_PREFIX + stripToName(one);
  if (kind === 'below') return `${BIND_PREFIX}*.${stripToName(one).replace(/^\*\./, '')}`;
  if (two === '') return null;
  return kind === 'address' ? `${BIND_PREFIX}${one}:${two}` : `${BIND_PREFIX}${one}=${two}`;
}

/** Reduces pasted text, a rule or a URL, to the name in it. */
function stripToName(name: string): string {
  return name
    .replace(/^bind:/, '')
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/\/.*$/, '');
}

/** The line of a rule that the gateway has accepted. */
export function ruleToLine(rule: string): RuleLine {
  const pattern = rule.startsWith(BIND_PREFIX) ? rule.slice(BIND_PREFIX.length) : rule;
  if (pattern === '*') return emptyLine('everything');
  const [, key, value] = /^([^=]*)=(.*)$/s.exec(pattern) ?? [];
  if (key !== undefined && value !== undefined) return { kind: 'label', first: key, second: value };
  const [, host, port] = /^(.*):(\d+)$/.exec(pattern) ?? [];
  if (host !== undefined && port !== undefined) return { kind: 'address', first: host, second: port };
  if (pattern.startsWith('*.')) return { kind: 'below', first: pattern.slice(2), second: '' };
  return { kind: 'name', first: pattern, second: '' };
}

export function emptyLine(kind: RuleKind): RuleLine {
  return { kind, first: '', second: '' };
}

/** A short text for a list of rules. */
export function aclText(acl: readonly string[]): string {
  if (acl.length === 0 || acl.some((rule) => rule === '*' || rule === `${BIND_PREFIX}*`)) return 'everything';
  return acl.map((rule) => rule.replace(BIND_PREFIX, '')).join(', ');
}
