// What the state of a certificate that the gateway obtains means to people: a mark for lists, and the steps on the way.

import type { CertificateState } from '../../../generated/operations.ts';

const DAY_MS = 86_400_000;
/** A renewal begins when a third of the life is left: one that still fails so late needs somebody. */
const WARNING_MS = 14 * DAY_MS;
/** A renewal that is overdue by so long is not being worked on. */
const OVERDUE_MS = DAY_MS;

/** The steps, in the order in which the gateway takes them. */
const STEPS = [
  ['WAITING_DNS', 'Waiting for DNS'],
  ['PREFLIGHT', 'Checks'],
  ['ORDERING', 'Ordering'],
  ['VALIDATING', 'Validation'],
  ['FINALIZING', 'Issuing'],
  ['ISSUED', 'In force'],
] as const;

type StepState = (typeof STEPS)[number][0];

export interface Step {
  title: string;
  progress: 'done' | 'current' | 'failed' | 'next';
}

/** The step that an error belongs to. Errors that several steps may end in are left out. */
const FAILED_STEPS: readonly (readonly [StepState, readonly number[]])[] = [
  ['WAITING_DNS', [26015, 26016, 26019, 26020]],
  ['PREFLIGHT', [26000, 26001, 26002, 26004, 26012, 26021, 26027]],
  ['ORDERING', [26023, 26031, 26033, 26036, 26037, 26038]],
  ['VALIDATING', [26009, 26014, 26024, 26030, 26035]],
  ['FINALIZING', [26007, 26010, 26011]],
];

/** How far a certificate has come. A failure whose step is not known marks none. */
export function stepsOf({ state, errorCode }: { state: CertificateState; errorCode: string | null }): Step[] {
  const isFailed = state === 'FAILED_RETRYING' || state === 'PAUSED';
  const place = STEPS.findIndex(([step]) => step === (isFailed ? failedStep(errorCode) : state));
  const isDone = state === 'ISSUED';
  return STEPS.map(([, title], index) => ({
    title,
    progress:
      index < place || (isDone && index === place) ? 'done' : index > place ? 'next' : isFailed ? 'failed' : 'current',
  }));
}

function failedStep(errorCode: string | null): StepState | undefined {
  const code = Number(errorCode?.split('_').at(-1));
  return FAILED_STEPS.find(([, codes]) => codes.includes(code))?.[0];
}

export interface Mark {
  variant: 'plain' | 'good' | 'warn' | 'bad';
  word: string;
}

/** The state in one word. @param isOn whether the gateway obtains certificates. */
export function markOf(
  { state, notAfter }: { state: CertificateState; notAfter: string | null },
  isOn: boolean,
  now: number,
): Mark {
  if (notAfter !== null && Date.parse(notAfter) <= now) return { variant: 'bad', word: 'expired' };
  if (state === 'ISSUED') return { variant: 'good', word: 'in force' };
  if (!isOn) return { variant: 'plain', word: notAfter === null ? 'not obtained' : 'not renewed' };
  if (state === 'PAUSED') return { variant: 'bad', word: 'needs a person' };
  if (state === 'FAILED_RETRYING') return { variant: 'bad', word: notAfter === null ? 'failed' : 'renewal failed' };
  if (state === 'WAITING_DNS') return { variant: 'warn', word: 'waits for DNS' };
  return { variant: 'plain', word: notAfter === null ? 'being obtained' : 'being renewed' };
}

/** Whether a person should look before visitors are warned, as `certificateWarnings` has it for domains. */
export function isEndangered(
  { state, notAfter, renewsAt }: { state: CertificateState; notAfter: string | null; renewsAt: string | null },
  now: number,
): boolean {
  const isFailed = state === 'FAILED_RETRYING' || state === 'PAUSED';
  if (notAfter === null) return isFailed;
  const isOverdue = state === 'ISSUED' && renewsAt !== null && now - Date.parse(renewsAt) >= OVERDUE_MS;
  return (isFailed || isOverdue || state === 'WAITING_DNS') && Date.parse(notAfter) - now <= WARNING_MS;
}

/** Why a certificate that ends soon is not followed by another. @param state null: nobody renews it. */
export function reasonOf(state: CertificateState | null): string {
  if (state === null) return 'nobody renews it';
  if (state === 'PAUSED') return 'renewing it needs a person';
  if (state === 'FAILED_RETRYING') return 'renewing it fails';
  return state === 'WAITING_DNS' ? 'renewing it waits for the DNS' : 'its renewal is overdue';
}
