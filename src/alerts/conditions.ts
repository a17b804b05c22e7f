// The conditions that a rule can watch: what their thresholds mean, and when one holds.

import type { Finding } from './finding.ts';

/** What a rule can be narrowed to. */
export type SelectorMember = 'addressPattern' | 'label' | 'credentialIds' | 'certificateIds' | 'destinationIds';

export interface ConditionDescriptor {
  /** What its subjects are called, one and many. */
  noun: readonly [one: string, many: string];
  /** What happened to them, after their number: `3 endpoints are offline`. */
  verb: readonly [one: string, many: string];
  /** The limits of the threshold; undefined: it has none. */
  threshold?: { readonly above: number; readonly most: number; readonly isWhole: boolean };
  /** Whether it holds while a share is above the threshold. Others hold while there is a subject. */
  isShare?: boolean;
  /**
   * Whether the duration of the rule is counted for each subject, from the moment that the database has for it. Otherwise it is
   * counted for the rule as a whole, from the moment that the condition holds.
   */
  isPerSubject: boolean;
  /** Whether a restart of the gateway makes it hold for a moment, until agents are back. */
  dependsOnAgents: boolean;
  selectors: readonly SelectorMember[];
}

const endpoints = {
  noun: ['endpoint', 'endpoints'],
  selectors: ['addressPattern', 'label', 'credentialIds'],
} as const;
const share = { threshold: { above: 0, most: 1, isWhole: false }, isShare: true } as const;
const destinations = { noun: ['event destination', 'event destinations'], selectors: ['destinationIds'] } as const;

export const conditions = {
  ENDPOINT_OFFLINE: {
    ...endpoints,
    verb: ['is offline', 'are offline'],
    isPerSubject: true,
    dependsOnAgents: true,
  },
  ENDPOINT_FAILING: {
    ...endpoints,
    verb: ['is failing', 'are failing'],
    isPerSubject: true,
    dependsOnAgents: true,
  },
  AGENT_OFFLINE: {
    noun: ['agent', 'agents'],
    verb: ['is offline', 'are offline'],
    isPerSubject: true,
    dependsOnAgents: true,
    selectors: ['label', 'credentialIds'],
  },
  OFFLINE_SHARE: {
    ...endpoints,
    ...share,
    verb: ['is offline', 'are offline'],
    isPerSubject: false,
    dependsOnAgents: true,
  },
  ERROR_SHARE: {
    ...endpoints,
    ...share,
    verb: ['has failed requests', 'have failed requests'],
    isPerSubject: false,
    dependsOnAgents: true,
  },
  CERTIFICATE_EXPIRES: {
    noun: ['certificate', 'certificates'],
    verb: ['expires soon', 'expire soon'],
    threshold: { above: 0, most: 365, isWhole: true },
    isPerSubject: true,
    dependsOnAgents: false,
    selectors: ['certificateIds'],
  },
  DESTINATION_FAILING: {
    ...destinations,
    verb: ['does not take events', 'do not take events'],
    isPerSubject: true,
    dependsOnAgents: false,
  },
  BACKLOG: {
    ...destinations,
    verb: ['has a backlog', 'have a backlog'],
    threshold: { above: -1, most: 1_000_000_000, isWhole: true },
    isPerSubject: false,
    dependsOnAgents: false,
  },
} as const satisfies Record<string, ConditionDescriptor>;

export type Condition = keyof typeof conditions;

export const conditionNames = Object.keys(conditions) as Condition[]; // They are the literal keys of `conditions`.

/** The descriptor of a condition, for callers to whom it does not matter which. */
export function conditionOf(condition: Condition): ConditionDescriptor {
  return conditions[condition];
}

/** Whether what was found is what the rule is about. */
export function isBreached(condition: Condition, threshold: number, { count, value }: Finding): boolean {
  return conditionOf(condition).isShare ? value > threshold : count > 0;
}
