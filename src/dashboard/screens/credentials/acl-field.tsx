// The editor of a credential's ACL rules, with an explanation of each rule.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { useFieldError } from '../../ui/forms/form-context.ts';
import type { FieldBinding } from '../../ui/forms/use-form-fields.ts';
import { emptyLine, lineToRule, type RuleKind, type RuleLine, ruleKinds } from './acl-rules.ts';
import { BindDryRun } from './bind-dry-run.tsx';
import { RuleFields } from './rule-fields.tsx';
import { useAclDryRun } from './use-acl-dry-run.ts';

/** The limit of the gateway. */
const MAX_RULES = 500;

/** The rules of the lines; unfinished lines are left out. */
export function linesToAcl(lines: readonly RuleLine[]): string[] {
  return lines.flatMap((line) => lineToRule(line) ?? []);
}

export function AclField({ name, value, onChange }: FieldBinding<readonly RuleLine[]>) {
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const focusesNewRule = useRef(false);
  const [bind, setBind] = useState('');
  const rules = linesToAcl(value);
  // An empty ACL allows everything. While the first rules are unfinished, the dry run must not say so.
  const hasOnlyUnfinishedRules = value.length > 0 && rules.length === 0;
  const dryRun = useAclDryRun(rules, bind.trim() && !hasOnlyUnfinishedRules ? [bind.trim()] : []);
  const evaluationOf = (line: RuleLine) => dryRun?.rules.find(({ rule }) => rule === lineToRule(line));
  const { fieldError } = useFieldError(name, value, (lines) => {
    const unfinished = lines.findIndex((line) => lineToRule(line) === null);
    if (unfinished >= 0) return `Rule ${unfinished + 1} isn’t finished: fill it in, or remove it.`;
    const wrong = lines.findIndex((line) => evaluationOf(line)?.isValid === false);
    return wrong < 0 ? null : `Rule ${wrong + 1} isn’t right.`;
  });

  useLayoutEffect(() => {
    if (!focusesNewRule.current) return;
    focusesNewRule.current = false;
    const row = [...(group.current?.querySelectorAll('.rule') ?? [])].at(-1);
    (row?.querySelector('input') ?? row?.querySelector('select'))?.focus();
  });

  function add(kind: RuleKind) {
    focusesNewRule.current = true;
    onChange([...value, emptyLine(kind)]);
  }

  return (
    <fieldset
      ref={group}
      class="field acl"
      aria-describedby={[`${id}-help`, fieldError && `${id}-error`].filter(Boolean).join(' ')}
    >
      <legend>What it may bind</legend>
      <p class="help" id={`${id}-help`}>
        What any one of these rules allows is allowed.
      </p>
      {value.map((line, index) => (
        <RuleFields
          key={index}
          line={line}
          number={index + 1}
          evaluation={evaluationOf(line)}
          onChange={(changed) => onChange(value.with(index, changed))}
          onRemove={() => onChange(value.toSpliced(index, 1))}
        />
      ))}
      {value.length === 0 && (
        <Note variant="warn">Without a rule it may bind everything: any name, any address and any label.</Note>
      )}
      <div class="add-rule">
        <span aria-hidden="true">Allow</span>
        {ruleKinds.map(({ kind, title }) => (
          <Button key={kind} isDisabled={value.length >= MAX_RULES} label={`Allow: ${title}`} onClick={() => add(kind)}>
            + {title}
          </Button>
        ))}
      </div>
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
      <BindDryRun
        bind={bind}
        onChange={setBind}
        hasOnlyUnfinishedRules={hasOnlyUnfinishedRules}
        result={dryRun?.binds.find((answered) => answered.bind === bind.trim())}
      />
    </fieldset>
  );
}
