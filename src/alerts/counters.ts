// What this process has sent, for metrics.

export const channelKinds = ['webhook', 'email', 'events'] as const;
export type ChannelName = (typeof channelKinds)[number];

export interface AlertCounters {
  sent: Record<ChannelName, number>;
  /** Attempts that failed. */
  failed: Record<ChannelName, number>;
  /** Notifications that were given up. */
  givenUp: Record<ChannelName, number>;
}

export function alertCounters(): AlertCounters {
  const none = () => ({ webhook: 0, email: 0, events: 0 });
  return { sent: none(), failed: none(), givenUp: none() };
}
