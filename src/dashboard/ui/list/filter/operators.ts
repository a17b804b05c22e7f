// The conditions that a filter can be built of, each with the CEL that says it. The same texts recognise conditions that
// somebody wrote by hand.

export type MemberType = 'ID' | 'TEXT' | 'TIMESTAMP' | 'BOOLEAN' | 'NUMBER' | 'CHOICE' | 'TEXTS' | 'LABELS';

/** A member that a list can be filtered by. */
export interface Member {
  /** As REST names it: `created_at`. */
  name: string;
  type: MemberType;
  isOrdered: boolean;
  isNullable: boolean;
  /** The values of a choice. */
  choices: readonly string[];
  /** What the objects of these ids are called, where all that are possible are known. */
  names?: Readonly<Record<string, string>>;
}

/** How a value is asked for. */
export type ValueKind = 'text' | 'choice' | 'boolean' | 'number' | 'span' | 'time' | 'none';

export interface Operator {
  id: string;
  title: string;
  types: readonly MemberType[];
  value: ValueKind;
  /** Whether it is about one label, named by its key. */
  hasKey?: boolean;
  /** Whether only members that may be null have it. */
  isForNullable?: boolean;
  /** CEL: `$m` is the name of the member, `$v` the value in quotes, `$b` true or false, `$n` a number, `$k` the key in quotes. */
  template: string;
}

const COMPARED: readonly MemberType[] = ['TEXT', 'ID'];
const ANY: readonly MemberType[] = ['ID', 'TEXT', 'TIMESTAMP', 'BOOLEAN', 'NUMBER', 'CHOICE'];

/** The first operator of a type is the one that is offered first. */
export const operators: readonly Operator[] = [
  { id: 'contains', title: 'contains', types: ['TEXT'], value: 'text', template: 'obj.$m.contains($v)' },
  { id: 'is', title: 'is', types: COMPARED, value: 'text', template: 'obj.$m == $v' },
  { id: 'isChoice', title: 'is', types: ['CHOICE'], value: 'choice', template: 'obj.$m == $v' },
  { id: 'isBoolean', title: 'is', types: ['BOOLEAN'], value: 'boolean', template: 'obj.$m == $b' },
  { id: 'atLeast', title: 'is at least', types: ['NUMBER'], value: 'number', template: 'obj.$m >= $n' },
  { id: 'lessThan', title: 'is less than', types: ['NUMBER'], value: 'number', template: 'obj.$m < $n' },
  { id: 'isNot', title: 'is not', types: COMPARED, value: 'text', template: 'obj.$m != $v' },
  { id: 'isNotChoice', title: 'is not', types: ['CHOICE'], value: 'choice', template: 'obj.$m != $v' },
  { id: 'containsNot', title: 'does not contain', types: ['TEXT'], value: 'text', template: '!obj.$m.contains($v)' },
  { id: 'startsWith', title: 'starts with', types: ['TEXT'], value: 'text', template: 'obj.$m.startsWith($v)' },
  { id: 'endsWith', title: 'ends with', types: ['TEXT'], value: 'text', template: 'obj.$m.endsWith($v)' },
  time('inLast', 'in the last', 'span', '(obj.$m >= now().subtract($v) && obj.$m <= now())'),
  time('inNext', 'in the next', 'span', '(obj.$m >= now() && obj.$m <= now().add($v))'),
  time('longAgo', 'longer ago than', 'span', 'obj.$m < now().subtract($v)'),
  time('farOff', 'further away than', 'span', 'obj.$m > now().add($v)'),
  time('after', 'since', 'time', 'obj.$m >= timestamp($v)'),
  time('before', 'before', 'time', 'obj.$m < timestamp($v)'),
  { id: 'includes', title: 'has', types: ['TEXTS'], value: 'text', template: '$v in obj.$m' },
  { id: 'includesNot', title: 'does not have', types: ['TEXTS'], value: 'text', template: '!($v in obj.$m)' },
  label('labelIs', 'is', 'text', 'obj.$m[$k] == $v'),
  label('labelIsNot', 'is not', 'text', 'obj.$m[$k] != $v'),
  label('hasLabel', 'is there', 'none', '$k in obj.$m'),
  label('hasNoLabel', 'is not there', 'none', '!($k in obj.$m)'),
  { id: 'isEmpty', title: 'is empty', types: ['TEXT', 'TEXTS'], value: 'none', template: 'size(obj.$m) == 0' },
  { id: 'isNotEmpty', title: 'is not empty', types: ['TEXT', 'TEXTS'], value: 'none', template: 'size(obj.$m) > 0' },
  { id: 'isSet', title: 'is set', types: ANY, value: 'none', isForNullable: true, template: 'has(obj.$m)' },
  { id: 'isNotSet', title: 'is not set', types: ANY, value: 'none', isForNullable: true, template: '!has(obj.$m)' },
];

function time(id: string, title: string, value: ValueKind, template: string): Operator {
  return { id, title, types: ['TIMESTAMP'], value, template };
}

function label(id: string, title: string, value: ValueKind, template: string): Operator {
  return { id, title, types: ['LABELS'], value, hasKey: true, template };
}

/** The operators that a member has. */
export function operatorsOf({ type, isNullable }: Member): readonly Operator[] {
  return operators.filter(({ types, isForNullable }) => types.includes(type) && (isNullable || !isForNullable));
}

/** The spans of time that are offered, as CEL writes them. */
export const spans: Readonly<Record<string, string>> = {
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  '365d': 'year',
};
