// The time of figures that somebody asks for: from when to when, and in which steps.

import type { TrafficRange } from '../../../store/traffic-stats/read-history.ts';
import { type BucketSeconds, RESOLUTIONS } from '../../../store/traffic-stats/traffic-rows.ts';
import { rfc3339 } from '../../builder/timestamps.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

/** The most points of one history. */
export const POINTS_MAX = 1000;
const HOUR_MS = 3_600_000;
/** Up to so long a time has points of 10 seconds by default. */
const SHORT_MS = 15 * 60_000;
/** Clocks differ: so much longer ago may be asked for than is kept. */
const SLACK_MS = 60_000;

export const STEP_NAMES = { TEN_SECONDS: 10, MINUTE: 60, HOUR: 3600 } as const satisfies Record<string, BucketSeconds>;
export type StepName = keyof typeof STEP_NAMES;

const KEPT: Record<StepName, string> = { TEN_SECONDS: '1 hour', MINUTE: '24 hours', HOUR: '30 days' };

export interface RangeArguments {
  from?: Date | null | undefined;
  to?: Date | null | undefined;
  step?: StepName | null | undefined;
}

/**
 * The time that is asked for: the last hour by default, in steps that suit its length. It begins and ends with a step.
 * @throws {ApiError} when it ends before it begins, is longer ago than figures are kept, or has too many steps.
 */
export function rangeOf({ app }: Pick<Context, 'app'>, { from, to, step }: RangeArguments): TrafficRange {
  const now = app.now();
  const end = to?.getTime() ?? now;
  const start = from?.getTime() ?? end - HOUR_MS;
  if (start >= end)
    throw new ApiError('emptyTrafficRange', { from: rfc3339(new Date(start)), to: rfc3339(new Date(end)) });
  const name = step ?? defaultStep(start, end, now);
  const seconds = STEP_NAMES[name];
  if (start < now - keptMs(seconds) - SLACK_MS)
    throw new ApiError('trafficNotKept', { step: name, kept: KEPT[name], advice: adviceFor(start, now) });
  const stepMs = seconds * 1000;
  const range = { from: start - (start % stepMs), to: Math.ceil(end / stepMs) * stepMs, step: seconds };
  const points = (range.to - range.from) / stepMs;
  if (points > POINTS_MAX)
    throw new ApiError('tooManyTrafficPoints', { max: POINTS_MAX, points, advice: adviceForLength(end - start) });
  return range;
}

/** The starts of the steps of a time. */
export function stepsOf({ from, to, step }: TrafficRange): number[] {
  const stepMs = step * 1000;
  return Array.from({ length: (to - from) / stepMs }, (_, at) => from + at * stepMs);
}

export function stepName(step: BucketSeconds): StepName {
  return step === 10 ? 'TEN_SECONDS' : step === 60 ? 'MINUTE' : 'HOUR';
}

function defaultStep(from: number, to: number, now: number): StepName {
  const ago = now - from;
  if (to - from <= SHORT_MS && ago <= keptMs(10)) return 'TEN_SECONDS';
  if (to - from <= POINTS_MAX * 50_000 && ago <= keptMs(60)) return 'MINUTE';
  return 'HOUR';
}

function keptMs(seconds: BucketSeconds): number {
  return RESOLUTIONS.find((each) => each.seconds === seconds)?.keptMs ?? 0;
}

function adviceFor(from: number, now: number): string {
  const name = (['MINUTE', 'HOUR'] as const).find((each) => from >= now - keptMs(STEP_NAMES[each]));
  return name ? `ask for the step ${name}` : 'ask for a time within the last 30 days';
}

function adviceForLength(ms: number): string {
  const name = (['MINUTE', 'HOUR'] as const).find((each) => ms / (STEP_NAMES[each] * 1000) < POINTS_MAX);
  return name ? `ask for the step ${name}, or for a shorter time` : 'ask for a shorter time';
}
