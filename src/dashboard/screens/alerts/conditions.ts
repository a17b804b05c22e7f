// What people read of a condition, and which fields its form has.

import type { AlertCondition, AlertSelectorFactsFragment, AlertSeverity } from '../../generated/operations.ts';

/** The kinds of objects that rules are about. */
export type Selected = 'endpoints' | 'agents' | 'certificates' | 'destinations';

export interface ConditionForm {
  title: string;
  help: string;
  /** The label and the unit of its threshold, if it has one. */
  threshold?: { label: string; unit: string; min: number; max: number };
  /** Whether it waits for a time before it fires. */
  hasDuration: boolean;
  /** What it can be narrowed to. */
  selects: Selected;
  /** What its subjects are called, one and many. */
  nouns: readonly [string, string];
}

export const conditionForms: Record<AlertCondition, ConditionForm> = {
  ENDPOINT_OFFLINE: {
    title: 'An endpoint is offline',
    help: 'Endpoints of agents, until an agent serves them again or somebody forgets them.',
    hasDuration: true,
    selects: 'endpoints',
    nouns: ['endpoint', 'endpoints'],
  },
  ENDPOINT_FAILING: {
    title: 'An endpoint is failing',
    help: 'It is online, and visitors get errors: endpoints of edges, too.',
    hasDuration: true,
    selects: 'endpoints',
    nouns: ['endpoint', 'endpoints'],
  },
  AGENT_OFFLINE: {
    title: 'An agent is offline',
    help: 'Whatever it served, until it comes back.',
    hasDuration: true,
    selects: 'agents',
    nouns: ['agent', 'agents'],
  },
  ERROR_SHARE: {
    title: 'A share of the requests fails',
    help: 'Of the last minute, and of all endpoints that are chosen together: answered with a status 5xx, or not at all.',
    threshold: { label: 'More than', unit: '%', min: 0, max: 100 },
    hasDuration: true,
    selects: 'endpoints',
    nouns: ['endpoint', 'endpoints'],
  },
  OFFLINE_SHARE: {
    title: 'A share of the endpoints is offline',
    help: 'One alert for a whole site that goes away.',
    threshold: { label: 'More than', unit: '%', min: 0, max: 100 },
    hasDuration: true,
    selects: 'endpoints',
    nouns: ['endpoint', 'endpoints'],
  },
  CERTIFICATE_EXPIRES: {
    title: 'A certificate expires soon',
    help: 'Certificates in use; those that are renewed by themselves only when their renewal is overdue.',
    threshold: { label: 'Within', unit: 'days', min: 1, max: 365 },
    hasDuration: false,
    selects: 'certificates',
    nouns: ['certificate', 'certificates'],
  },
  DESTINATION_FAILING: {
    title: 'An event destination does not take events',
    help: 'Delivery fails, and an event has waited for so long.',
    hasDuration: true,
    selects: 'destinations',
    nouns: ['event destination', 'event destinations'],
  },
  BACKLOG: {
    title: 'Many events wait for a destination',
    help: 'They come faster than they are delivered.',
    threshold: { label: 'More than', unit: 'events', min: 0, max: 1_000_000_000 },
    hasDuration: true,
    selects: 'destinations',
    nouns: ['event destination', 'event destinations'],
  },
};

export const severityTitles: Record<AlertSeverity, string> = {
  INFO: 'info',
  WARNING: 'warning',
  CRITICAL: 'critical',
};

/** Whether what a condition compares is a share, from 0 to 1. */
export function isShare(condition: AlertCondition): boolean {
  return conditionForms[condition].threshold?.unit === '%';
}

/** A threshold as its form has it: shares are in percent. */
export function toFormThreshold(condition: AlertCondition, threshold: number | null | undefined): number | null {
  if (threshold === null || threshold === undefined) return null;
  return isShare(condition) ? Math.round(threshold * 10_000) / 100 : threshold;
}

export function fromFormThreshold(condition: AlertCondition, value: number | null): number | undefined {
  if (value === null || !conditionForms[condition].threshold) return undefined;
  return isShare(condition) ? value / 100 : value;
}

/** A rule in one line: `more than 25 % for 2 min`. */
export function ruleText(rule: { condition: AlertCondition; threshold?: number | null; forSeconds: number }): string {
  const { threshold, hasDuration } = conditionForms[rule.condition];
  const value = toFormThreshold(rule.condition, rule.threshold);
  const compared = threshold && value !== null ? `${threshold.label.toLowerCase()} ${value} ${threshold.unit}` : '';
  return [compared, hasDuration ? `for ${durationText(rule.forSeconds)}` : ''].filter(Boolean).join(' ');
}

/** What a selector selects, in one line. */
export function selectorText(selector: AlertSelectorFactsFragment): string {
  const { addressPattern, label, credentialIds, certificateIds, destinationIds } = selector;
  const counted = (ids: readonly string[], one: string) =>
    ids.length === 0 ? [] : [`${ids.length} ${one}${ids.length === 1 ? '' : 's'}`];
  const parts = [
    ...(addressPattern ? [addressPattern] : []),
    ...(label ? [label] : []),
    ...counted(credentialIds, 'credential'),
    ...counted(certificateIds, 'certificate'),
    ...counted(destinationIds, 'destination'),
  ];
  return parts.join(', ') || 'all';
}

function durationText(seconds: number): string {
  if (seconds % 3600 === 0 && seconds > 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 && seconds > 0 ? `${seconds / 60} min` : `${seconds} s`;
}
