import type { FleetAgentQuery } from '../../generated/operations.ts';

/** An agent as its page shows it. */
export type ShownAgent = NonNullable<FleetAgentQuery['agent']>;
