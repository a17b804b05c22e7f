import type { ProvisioningKeyQuery } from '../../../generated/operations.ts';

/** A provisioning key as its page shows it. */
export type ShownKey = NonNullable<ProvisioningKeyQuery['provisioningKey']>;
