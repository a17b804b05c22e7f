// The parts of the time that a request took.

export interface Timing {
  /** Milliseconds since the head of the request had come; null when that never was. */
  upstreamMilliseconds: number | null;
  firstByteMilliseconds: number | null;
  durationMilliseconds: number;
}

interface Part {
  name: string;
  from: number;
  to: number;
}

/** Those that there were: what never reached a service has no wait for it. */
export function timingParts({ upstreamMilliseconds, firstByteMilliseconds, durationMilliseconds }: Timing): Part[] {
  const upstream = upstreamMilliseconds ?? 0;
  const firstByte = firstByteMilliseconds ?? durationMilliseconds;
  return [
    upstreamMilliseconds === null
      ? { name: 'In the gateway', from: 0, to: firstByte }
      : { name: 'Until it was on its way to the agent', from: 0, to: upstream },
    upstreamMilliseconds !== null && { name: 'Until the answer began', from: upstream, to: firstByte },
    firstByteMilliseconds !== null && { name: 'Until it was sent', from: firstByte, to: durationMilliseconds },
  ].filter((part) => part !== false);
}
