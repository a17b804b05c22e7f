// What an ACL means, rule by rule in words, and what it would let an agent bind. The agents' own rules decide.

import { AclError, type AclRule, allows, type BindTarget, parseAclRule } from '../../../tunnel/control/acl.ts';

export interface RuleExplanation {
  rule: string;
  isValid: boolean;
  message: string;
}

export interface BindEvaluation {
  bind: string;
  isAllowed: boolean;
  message: string;
}

export interface AclEvaluation {
  rules: RuleExplanation[];
  isValid: boolean;
  binds: BindEvaluation[];
}

const BIND = 'bind:';
/** Nobody meant something longer; to look for it would take too long. */
const MEANT_MAX = 1024;
const RULE_FORMS =
  'A rule is "*", or "bind:" and a domain (example.com, *.example.com), an address (1.example.com:20000) or a label ' +
  '(key=value).';
const BIND_FORMS = 'Try a name (app.example.com), an address (1.example.com:20000) or a label (key=value).';

/** @param binds what an agent might want to bind, each as a rule has it after its `bind:`. */
export function evaluateAcl(acl: readonly string[], binds: readonly string[]): AclEvaluation {
  const rules = acl.map(explainRule);
  return { rules, isValid: rules.every(({ isValid }) => isValid), binds: binds.map((bind) => tryBind(acl, bind)) };
}

function explainRule(text: string): RuleExplanation {
  const rule = read(text);
  return rule instanceof AclError
    ? { rule: text, isValid: false, message: `Not right: ${rule.message}. ${wouldBeRight(text)}` }
    : { rule: text, isValid: true, message: `Allows ${inWords(rule)}.` };
}

/** What somebody may have meant, or else how rules are written. */
function wouldBeRight(text: string): string {
  if (text.length > MEANT_MAX) return RULE_FORMS;
  const bare = text
    .trim()
    .replace(/^bind:\s*/i, '')
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[/.]+$/, '');
  const meant = bare === '*' ? bare : `${BIND}${bare}`;
  return bare !== '' && meant !== text && !(read(meant) instanceof AclError) ? `Did you mean "${meant}"?` : RULE_FORMS;
}

function inWords(rule: AclRule): string {
  switch (rule.type) {
    case 'everything':
      return 'everything: any name, any address and any label';
    case 'domain':
      return rule.domain.startsWith('*.')
        ? `any name below ${rule.domain.slice(2)}, and ${rule.domain} itself`
        : `the name ${rule.domain}, and no name below it`;
    case 'address':
      return `TCP port ${rule.port} at ${rule.host}`;
    case 'label':
      return labelInWords(rule);
  }
}

function labelInWords({ key, value }: { key: string; value: string }): string {
  if (key === '*') return value === '*' ? 'any label' : `any label with the value "${value}"`;
  return value === '*' ? `the label "${key}" with any value` : `the label "${key}" with the value "${value}"`;
}

function tryBind(acl: readonly string[], bind: string): BindEvaluation {
  const target = read(BIND + bind);
  if (target instanceof AclError || target.type === 'everything') {
    const reason = target instanceof AclError ? target.message : 'nobody binds everything at once';
    return { bind, isAllowed: false, message: `Not right: ${reason}. ${BIND_FORMS}` };
  }
  if (acl.length === 0) return { bind, isAllowed: true, message: 'Allowed: there are no rules, so nothing is denied.' };
  const rule = acl.find((one) => allows([one], target));
  return rule === undefined
    ? { bind, isAllowed: false, message: `Denied: no rule allows ${nameOf(target)}.` }
    : { bind, isAllowed: true, message: `Allowed by ${rule}.` };
}

function nameOf(target: BindTarget): string {
  if (target.type === 'domain') return target.domain;
  return target.type === 'address' ? `${target.host}:${target.port}` : `${target.key}=${target.value}`;
}

function read(text: string): AclRule | AclError {
  try {
    return parseAclRule(text);
  } catch (error) {
    if (error instanceof AclError) return error;
    throw error;
  }
}
