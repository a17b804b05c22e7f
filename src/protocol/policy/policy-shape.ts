// Validates the shape and the limits of a traffic policy, in the agent and in the gateway alike. Only the gateway, which
// runs expressions and actions, validates these.

/** The protocol of the endpoint that a policy is for. */
export type PolicyProtocol = 'http' | 'https' | 'tcp' | 'tls';

/** One mistake in a policy. */
export interface PolicyProblem {
  /** The place of the mistake, as in `inbound[0].actions[1].type`; empty for the whole document. */
  path: string;
  /** The rule that the policy breaks. It is worded to be read after the path. */
  message: string;
  /** The number of the error in the error table: `ERR_GATEWAY_<number>`. */
  number: number;
}

/** The limits of a policy. Lengths are in bytes of UTF-8; that of the document is the length of its JSON text. */
export const POLICY_LIMITS = {
  document: 64 * 1024,
  rules: 200,
  expressions: 50,
  actions: 50,
  name: 255,
  expression: 8 * 1024,
  type: 64,
  depth: 32,
} as const;

const PHASES = ['on_tcp_connect', 'on_http_request', 'on_http_response', 'inbound', 'outbound'] as const;
type Phase = (typeof PHASES)[number];

/** The most problems that are reported; a longer list helps nobody. */
const PROBLEMS_MAX = 20;
const ERROR_NUMBERS = {
  field: 2204,
  noAction: 2206,
  count: 2218,
  length: 2221,
  phase: 2230,
  mixed: 2231,
  document: 2236,
};
const TYPE = /^[a-z0-9]+([_-][a-z0-9]+)*$/;

/** Resolves the phase names of 2024: `inbound` and `outbound` mean another phase for each protocol. */
export function effectivePhase(phase: Phase, protocol: PolicyProtocol): Phase {
  if (phase === 'outbound') return 'on_http_response';
  if (phase === 'inbound') return isHttp(protocol) ? 'on_http_request' : 'on_tcp_connect';
  return phase;
}

/**
 * Validates a parsed document (JSON or YAML) for an endpoint of this protocol.
 * @returns at most 20 problems; none when the policy is well formed.
 */
export function checkPolicy(value: unknown, protocol: PolicyProtocol): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  const report = (path: string, number: number, message: string) => {
    if (problems.length < PROBLEMS_MAX) problems.push({ path, message, number });
  };
  if (!isObject(value)) {
    report('', ERROR_NUMBERS.document, `must be an object with rules under ${PHASES.join(', ')}`);
    return problems;
  }
  if (depth(value) > POLICY_LIMITS.depth) {
    report('', ERROR_NUMBERS.document, `must not be nested deeper than ${POLICY_LIMITS.depth} levels`);
    return problems; // The checks below walk the whole document.
  }
  if (bytes(JSON.stringify(value)) > POLICY_LIMITS.document)
    report('', ERROR_NUMBERS.length, `must have at most ${POLICY_LIMITS.document} bytes as JSON`);

  const keysByPhase = new Map<Phase, string>();
  for (const [key, content] of Object.entries(value)) {
    if (key === 'enabled') {
      if (typeof content !== 'boolean') report(key, ERROR_NUMBERS.field, 'must be true or false');
    } else if (isPhase(key)) {
      const phase = effectivePhase(key, protocol);
      const other = keysByPhase.get(phase);
      if (other)
        report(key, ERROR_NUMBERS.mixed, `means the same phase as ${other}: put the rules of both into one of them`);
      keysByPhase.set(phase, key);
      checkPhase(key, content, phase, protocol, report);
    } else if (key === 'on_event_stream_message') {
      report(key, ERROR_NUMBERS.field, 'is not known here: put its sse-find-replace into on_http_response');
    } else {
      report(key, ERROR_NUMBERS.field, `is not known here; known are: ${[...PHASES, 'enabled'].join(', ')}`);
    }
  }
  return problems;
}

type Report = (path: string, number: number, message: string) => void;

function checkPhase(path: string, rules: unknown, phase: Phase, protocol: PolicyProtocol, report: Report): void {
  if (!checkList(path, rules, POLICY_LIMITS.rules, 'rules', report)) return;
  if (rules.length > 0 && phase !== 'on_tcp_connect' && !isHttp(protocol))
    report(path, ERROR_NUMBERS.phase, `is a phase of HTTP, and this endpoint is ${protocol}: use on_tcp_connect`);
  else
    rules.forEach((rule, i) => {
      checkRule(`${path}[${i}]`, rule, report);
    });
}

function checkRule(path: string, rule: unknown, report: Report): void {
  if (!checkMembers(path, rule, ['name', 'expressions', 'actions'], report)) return;
  const { name, expressions, actions } = rule;
  if (name !== undefined) checkText(`${path}.name`, name, POLICY_LIMITS.name, report);
  if (expressions !== undefined) {
    const at = `${path}.expressions`;
    if (checkList(at, expressions, POLICY_LIMITS.expressions, 'expressions', report))
      expressions.forEach((text, i) => {
        checkText(`${at}[${i}]`, text, POLICY_LIMITS.expression, report);
      });
  }
  const at = `${path}.actions`;
  if (actions === undefined || (Array.isArray(actions) && actions.length === 0))
    report(at, ERROR_NUMBERS.noAction, 'must have at least one action');
  else if (checkList(at, actions, POLICY_LIMITS.actions, 'actions', report))
    actions.forEach((action, i) => {
      checkAction(`${at}[${i}]`, action, report);
    });
}

function checkAction(path: string, action: unknown, report: Report): void {
  if (!checkMembers(path, action, ['type', 'config'], report)) return;
  const { type, config } = action;
  const at = `${path}.type`;
  if (type === undefined) report(at, ERROR_NUMBERS.field, 'is missing: it says what the action does, as "deny"');
  else if (checkText(at, type, POLICY_LIMITS.type, report) && !TYPE.test(type))
    report(at, ERROR_NUMBERS.field, 'must be lower-case words joined by hyphens, as "add-headers"');
  // In YAML, a key without a value is null.
  if (config !== undefined && config !== null && !isObject(config))
    report(`${path}.config`, ERROR_NUMBERS.field, 'must be an object');
}

function checkList(path: string, value: unknown, max: number, of: string, report: Report): value is unknown[] {
  if (!Array.isArray(value)) {
    report(path, ERROR_NUMBERS.field, `must be a list of ${of}${isObject(value) ? ': put the one in [ ]' : ''}`);
    return false;
  }
  if (value.length <= max) return true;
  report(path, ERROR_NUMBERS.count, `must have at most ${max} ${of}`);
  return false;
}

function checkMembers(path: string, value: unknown, known: string[], report: Report): value is Record<string, unknown> {
  if (!isObject(value)) {
    report(path, ERROR_NUMBERS.field, `must be an object with ${known.join(', ')}`);
    return false;
  }
  for (const key of Object.keys(value))
    if (!known.includes(key))
      report(`${path}.${key}`, ERROR_NUMBERS.field, `is not known here; known are: ${known.join(', ')}`);
  return true;
}

function checkText(path: string, value: unknown, max: number, report: Report): value is string {
  if (typeof value !== 'string') report(path, ERROR_NUMBERS.field, 'must be a text');
  else if (bytes(value) > max) report(path, ERROR_NUMBERS.length, `must have at most ${max} bytes`);
  else return true;
  return false;
}

/** The nesting depth of objects and lists. Counting stops one level beyond the limit. */
function depth(value: unknown, level = 1): number {
  if (typeof value !== 'object' || value === null || level > POLICY_LIMITS.depth) return level;
  let deepest = level;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depth(inner, level + 1));
  return deepest;
}

const isPhase = (key: string): key is Phase => (PHASES as readonly string[]).includes(key);
const isHttp = (protocol: PolicyProtocol) => protocol === 'http' || protocol === 'https';
const bytes = (text: string) => new TextEncoder().encode(text).length;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
