import type { BulkJobFactsFragment } from '../../../generated/operations.ts';
import type { BulkAction } from './target.ts';

type State = BulkJobFactsFragment['state'];

const ACTIONS: Record<BulkAction, string> = {
  DELETE: 'Delete',
  CHANGE_OWNER: 'Change who holds',
  CHANGE_LABELS: 'Change the labels of',
};

/** Whether a job goes on no more. */
export function isOver(state: State): boolean {
  return state !== 'QUEUED' && state !== 'RUNNING';
}

const STATES: Record<State, string> = {
  QUEUED: 'Waiting',
  RUNNING: 'Under way',
  SUCCEEDED: 'Done',
  PARTLY_FAILED: 'Done in part',
  FAILED: 'Failed',
  CANCELLED: 'Stopped',
};

export function stateTitle(state: State): string {
  return STATES[state];
}

/** `Delete credentials` */
export function jobTitle({ action, list }: Pick<BulkJobFactsFragment, 'action' | 'list'>): string {
  return `${ACTIONS[action]} ${list.replace(/\p{Lu}/gu, (letter) => ` ${letter.toLowerCase()}`)}`;
}
