import { useId } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { lineToRule, type RuleKind, type RuleLine, ruleKinds } from './acl-rules.ts';
import type { AclDryRun } from './use-acl-dry-run.ts';

interface RuleFieldsProps {
  line: RuleLine;
  number: number;
  /** The gateway's explanation of the rule, if it is known. */
  evaluation: AclDryRun['rules'][number] | undefined;
  onChange: (line: RuleLine) => void;
  onRemove: () => void;
}

/** The separator between the two parts of a rule. */
const SEPARATORS: Partial<Record<RuleKind, string>> = { address: ':', label: '=' };
const LABELS: Partial<Record<RuleKind, [string, string?]>> = {
  name: ['the name'],
  below: ['the name above'],
  address: ['the host', 'the port'],
  label: ['the key', 'the value'],
};

/** The fields of one rule, with its explanation. */
export function RuleFields({ line, number, evaluation, onChange, onRemove }: RuleFieldsProps) {
  const id = useId();
  const { kind, first, second } = line;
  const { first: firstHint, second: secondHint } = ruleKinds.find((one) => one.kind === kind) ?? {};
  const isInvalid = evaluation?.isValid === false;
  const input = (part: 'first' | 'second', value: string, hint: string, what = '') => (
    <input
      type="text"
      class="code"
      value={value}
      placeholder={hint}
      aria-label={`Rule ${number}: ${what}`}
      aria-describedby={id}
      aria-invalid={isInvalid || undefined}
      autoComplete="off"
      autoCapitalize="off"
      spellcheck={false}
      onInput={(event) => onChange({ ...line, [part]: event.currentTarget.value })}
    />
  );
  return (
    <div class={`rule ${kind}`}>
      <select
        aria-label={`Rule ${number}: what it allows`}
        value={kind}
        onChange={(event) => onChange({ ...line, kind: event.currentTarget.value as RuleKind })}
      >
        {ruleKinds.map((one) => (
          <option key={one.kind} value={one.kind} selected={one.kind === kind}>
            {one.title}
          </option>
        ))}
      </select>
      <span class="rule-parts">
        {firstHint !== undefined && input('first', first, firstHint, LABELS[kind]?.[0])}
        {SEPARATORS[kind] && <span aria-hidden="true">{SEPARATORS[kind]}</span>}
        {secondHint !== undefined && input('second', second, secondHint, LABELS[kind]?.[1])}
      </span>
      <Button variant="plain" label={`Remove rule ${number}`} onClick={onRemove}>
        ✕
      </Button>
      <p class={isInvalid ? 'field-error' : 'help'} id={id}>
        {lineToRule(line) === null ? hintFor(kind) : evaluation?.message}
      </p>
    </div>
  );
}

function hintFor(kind: RuleKind): string {
  if (kind === 'label') return 'Either part may be * for any.';
  return kind === 'address'
    ? 'A host, and the port that the agent asks for.'
    : 'A full name, without a scheme or path.';
}
