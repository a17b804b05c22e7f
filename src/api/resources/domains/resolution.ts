// Where the name of a reserved domain leads. Clients written for the original service name places there; a gateway has one answer.

import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';

interface Resolution {
  value: string;
}

/** All nodes of the gateway. */
export const EVERYWHERE: Resolution = { value: 'global' };

export const DomainResolution = builder.objectRef<Resolution>('DomainResolution').implement({
  description: 'A place that the name of a reserved domain leads to.',
  fields: (t) => ({
    value: t.exposeString('value', { description: '`global`: every node of the gateway.' }),
  }),
});

const DomainResolutionInput = builder.inputType('DomainResolutionInput', {
  description: 'A place that the name of a reserved domain is to lead to.',
  fields: (t) => ({
    value: t.string({ required: true, description: '`global`, the only one there is.' }),
  }),
});

/** The member of the inputs. */
export const resolvesTo = {
  type: [DomainResolutionInput] satisfies [typeof DomainResolutionInput] as [typeof DomainResolutionInput],
  description: 'Where its name is to lead: left out, or one place, `global`.',
};

/** @throws {ApiError} when a domain is to lead anywhere else. */
export function checkResolution(places: readonly Resolution[] | null | undefined): void {
  const index = (places ?? []).findIndex(({ value }) => value !== EVERYWHERE.value);
  if (index >= 0) throw new ApiError('domainResolution', { member: `resolvesTo[${index}].value` });
}
