import { useId, useState } from 'preact/hooks';
import { Button } from '../../button.tsx';
import { type Member, type Operator, operatorsOf, spans } from './operators.ts';
import type { Comparison } from './terms.ts';
import { choiceTitle, memberTitle } from './words.ts';

interface TermEditorProps {
  members: readonly Member[];
  /** What is being changed; nothing for a new condition. */
  comparison?: Comparison;
  onDone: (comparison: Comparison) => void;
}

/** Builds a condition of a filter: a member, an operator and a value. */
export function TermEditor({ members, comparison, onDone }: TermEditorProps) {
  const id = useId();
  const [name, setName] = useState(comparison?.member ?? members[0]?.name ?? '');
  const member = members.find((one) => one.name === name);
  const [operatorId, setOperatorId] = useState(comparison?.operator.id);
  const [typed, setValue] = useState(comparison ? shownValue(comparison) : '');
  const [key, setKey] = useState(comparison?.key ?? '');
  if (!member) return null;
  const offered = operatorsOf(member);
  const operator = offered.find((one) => one.id === operatorId) ?? offered[0];
  if (!operator) return null;
  const value = completeValue(operator, member, typed);
  const isComplete = value !== undefined && (!operator.hasKey || key !== '');

  function submit(event: Event) {
    event.preventDefault();
    if (operator && value !== undefined && isComplete)
      onDone({ member: name, operator, value, key: operator.hasKey ? key : '' });
  }

  return (
    <form class="term-editor" onSubmit={submit}>
      <label for={`${id}-member`}>Of each row</label>
      <select id={`${id}-member`} value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
        {members.map((one) => (
          <option key={one.name} value={one.name} selected={one.name === name}>
            {memberTitle(one.name)}
          </option>
        ))}
      </select>
      <label for={`${id}-operator`}>Condition</label>
      <select
        id={`${id}-operator`}
        value={operator.id}
        onChange={({ currentTarget }) => setOperatorId(currentTarget.value)}
      >
        {offered.map((one) => (
          <option key={one.id} value={one.id} selected={one.id === operator.id}>
            {one.title}
          </option>
        ))}
      </select>
      {operator.hasKey && (
        <>
          <label for={`${id}-key`}>Label</label>
          <input
            id={`${id}-key`}
            value={key}
            placeholder="site"
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </>
      )}
      {operator.value !== 'none' && (
        <>
          <label for={`${id}-value`}>Value</label>
          <ValueControl
            id={`${id}-value`}
            operator={operator}
            member={member}
            value={value ?? typed}
            onChange={setValue}
          />
        </>
      )}
      <Button type="submit" variant="primary" isDisabled={!isComplete}>
        {comparison ? 'Change the filter' : 'Add the filter'}
      </Button>
    </form>
  );
}

interface ValueControlProps {
  id: string;
  operator: Operator;
  member: Member;
  value: string;
  onChange: (value: string) => void;
}

function ValueControl({ id, operator, member, value, onChange }: ValueControlProps) {
  const options = optionsOf(operator, member);
  if (options) {
    return (
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {Object.entries(options).map(([option, title]) => (
          <option key={option} value={option} selected={option === value}>
            {title}
          </option>
        ))}
      </select>
    );
  }
  const isTime = operator.value === 'time';
  return (
    <input
      id={id}
      inputMode={operator.value === 'number' ? 'numeric' : undefined}
      type={(isTime ? 'datetime-local' : 'text') as 'text'}
      value={isTime ? localTime(value) : value}
      autoComplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

function optionsOf(operator: Operator, { choices, names }: Member): Readonly<Record<string, string>> | undefined {
  if (operator.value === 'text' && names) return names;
  if (operator.value === 'choice') return Object.fromEntries(choices.map((choice) => [choice, choiceTitle(choice)]));
  if (operator.value === 'boolean') return { true: 'yes', false: 'no' };
  return operator.value === 'span' ? spans : undefined;
}

/** The value of the condition; undefined while it is not complete. */
function completeValue(operator: Operator, member: Member, typed: string): string | undefined {
  if (operator.value === 'none') return '';
  const options = optionsOf(operator, member);
  if (options) return Object.hasOwn(options, typed) ? typed : Object.keys(options)[operator.value === 'span' ? 1 : 0];
  if (operator.value === 'number') return /^\d{1,15}$/.test(typed) ? typed : undefined;
  if (operator.value !== 'time') return typed === '' ? undefined : typed;
  const time = new Date(typed);
  return Number.isNaN(time.getTime()) ? undefined : `${time.toISOString().slice(0, 19)}Z`;
}

/** The value as its control has it. */
function shownValue({ operator, value }: Comparison): string {
  return operator.value === 'time' ? localTime(value) : value;
}

/** A time as a field has it, by the clock here. */
function localTime(value: string): string {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
