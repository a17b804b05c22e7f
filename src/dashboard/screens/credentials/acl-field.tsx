// What a credential may bind: rules that are put together from parts, each with what it allows.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { useFieldError } from '../../ui/forms/form.tsx';
import type { FieldBinding } from '../../ui/forms/use-form-fields.ts';
import { kinds, lineOfKind, type RuleKind, type RuleLine, ruleOf } from './acl-rules.ts';
import { BindTrial } from './bind-dry-run.tsx';
import { RuleFields } from './rule-fields.tsx';
import { useAclTrial } from './use-acl-dry-run.ts';

/** As many as the gateway takes. */
const MOST = 500;

/** The rules of the lines; only what is whole counts. */
export function aclOf(lines: readonly RuleLine[]): string[] {
  return lines.flatMap((line) => ruleOf(line) ?? []);
}

export function AclField({ name, value, onChange }: FieldBinding<readonly RuleLine[]>) {
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const isAdded = useRef(false);
  const [bind, setBind] = useState('');
  const rules = aclOf(value);
  // Without any rule everything is allowed; that is not to be said of one who has just begun to write them.
  const isBegun = value.length > 0 && rules.length === 0;
  const trial = useAclTrial(rules, bind.trim() && !isBegun ? [bind.trim()] : []);
  const meaningOf = (line: RuleLine) => trial?.rules.find(({ rule }) => rule === ruleOf(line));
  const { fieldError: mistake } = useFieldError(name, value, (lines) => {
    const unfinished = lines.findIndex((line) => ruleOf(line) === null);
    if (unfinished >= 0) return `Rule ${unfinished + 1} isn’t finished: fill it in, or remove it.`;
    const wrong = lines.findIndex((line) => meaningOf(line)?.isValid === false);
    return wrong < 0 ? null : `Rule ${wrong + 1} isn’t right.`;
  });

  useLayoutEffect(() => {
    if (!isAdded.current) return;
    isAdded.current = false;
    const row = [...(group.current?.querySelectorAll('.rule') ?? [])].at(-1);
    (row?.querySelector('input') ?? row?.querySelector('select'))?.focus();
  });

  function add(kind: RuleKind) {
    isAdded.current = true;
    onChange([...value, lineOfKind(kind)]);
  }

  return (
    <fieldset
      ref={group}
      class="field acl"
      aria-describedby={[`${id}-help`, mistake && `${id}-error`].filter(Boolean).join(' ')}
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
          meaning={meaningOf(line)}
          onChange={(changed) => onChange(value.with(index, changed))}
          onRemove={() => onChange(value.toSpliced(index, 1))}
        />
      ))}
      {value.length === 0 && (
        <Note variant="warn">Without a rule it may bind everything: any name, any address and any label.</Note>
      )}
      <div class="add-rule">
        <span aria-hidden="true">Allow</span>
        {kinds.map(({ kind, title }) => (
          <Button key={kind} isDisabled={value.length >= MOST} label={`Allow: ${title}`} onClick={() => add(kind)}>
            + {title}
          </Button>
        ))}
      </div>
      {mistake && (
        <p class="mistake" id={`${id}-error`} role="alert">
          {mistake}
        </p>
      )}
      <BindTrial
        bind={bind}
        onChange={setBind}
        isEarly={isBegun}
        answer={trial?.binds.find((answered) => answered.bind === bind.trim())}
      />
    </fieldset>
  );
}
