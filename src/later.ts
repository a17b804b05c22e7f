/** How something is done after a time, in milliseconds. @returns what calls it off. */
export type Schedule = (ms: number, work: () => void) => () => void;

/** By the timers of the process. */
export const later: Schedule = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
