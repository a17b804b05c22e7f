/** Calls `work` once after `ms` milliseconds. @returns a function that cancels the call. */
export type Schedule = (ms: number, work: () => void) => () => void;

/** Schedules with the timers of the process. */
export const scheduleByTimer: Schedule = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
