// Conditions in words.

import { type Member, spans } from './operators.ts';
import type { Term } from './terms.ts';

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  id: 'id',
  ip: 'IP',
  ips: 'IPs',
  os: 'OS',
  url: 'URL',
  acl: 'ACL',
  dns: 'DNS',
};

/** `created_at` becomes `Created`, and `owner_id` becomes `Owner`. */
export function memberTitle(name: string): string {
  const words = name.split(/[._]/).map((word) => ABBREVIATIONS[word] ?? word);
  const title = words.join(' ').replace(/ (id|at)$/, '');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** A choice of the API as a word: `ACKNOWLEDGED` becomes `acknowledged`. */
export function choiceTitle(choice: string): string {
  return choice.toLowerCase().replaceAll('_', ' ');
}

/** `Created at in the last 24 hours` */
export function termTitle(term: Term, members: readonly Member[]): string {
  if ('expression' in term) return term.expression;
  const { operator, key } = term;
  const subject = operator.hasKey ? `Label ${key}` : memberTitle(term.member);
  return [subject, operator.title, valueTitle(term, members)].filter(Boolean).join(' ');
}

function valueTitle(term: Exclude<Term, { expression: string }>, members: readonly Member[]): string {
  const { operator, value } = term;
  switch (operator.value) {
    case 'span':
      return spans[value] ?? value;
    case 'time': {
      const time = new Date(value);
      return Number.isNaN(time.getTime())
        ? value
        : time.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
    }
    case 'choice':
      return members.some(({ choices }) => choices.includes(value)) ? choiceTitle(value) : value;
    case 'boolean':
      return value === 'true' ? 'yes' : 'no';
    default:
      return members.find(({ name }) => name === term.member)?.names?.[value] ?? value;
  }
}
