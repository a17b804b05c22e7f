// The filter of the audit trail. It is part of the URL, so that it can be kept and sent to others.

import { useLocation } from 'preact-iso/router';
import type { AuditAction, AuditEntriesQueryVariables } from '../../generated/operations.ts';

const MEMBERS = ['text', 'actor', 'object', 'kind', 'action', 'from', 'to'] as const;

/** Texts as the fields have them; '' chooses nothing. Times are those of the clock here: `2026-11-21T09:00`. */
export type AuditFilter = Record<(typeof MEMBERS)[number], string>;

export function useAuditFilter(): [AuditFilter, (some: Partial<AuditFilter>) => void] {
  const { path, query, route } = useLocation();
  const filter = Object.fromEntries(MEMBERS.map((name) => [name, query[name] ?? ''])) as AuditFilter;
  function change(some: Partial<AuditFilter>) {
    const given = Object.entries({ ...filter, ...some }).filter(([, value]) => value !== '');
    const search = new URLSearchParams(given).toString();
    route(search ? `${path}?${search}` : path, true);
  }
  return [filter, change];
}

export function auditVariables(filter: AuditFilter): Omit<AuditEntriesQueryVariables, 'first' | 'after'> {
  const { text, actor, object, kind, action, from, to } = filter;
  return {
    ...(text.trim() && { text: text.trim() }),
    ...(actor.trim() && { actorId: actor.trim() }),
    ...(object.trim() && { objectId: object.trim() }),
    ...(kind && { kind }),
    ...(action && { action: action as AuditAction }),
    ...timeOf('from', from),
    ...timeOf('to', to),
  };
}

/** What is not a time yet, as it is being typed, chooses nothing. */
function timeOf(name: 'from' | 'to', text: string): { [name: string]: string } {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? {} : { [name]: time.toISOString() };
}
