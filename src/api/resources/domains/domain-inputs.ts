// What reserved domains are created and changed by, and where they may lead: clients written for the original service name places, and
// a gateway has one answer.

import { builder } from '../../builder/builder.ts';
import { changedNotes, NOTES, newNotes } from '../../collections/notes.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkEach } from '../../errors/problems.ts';
import { CertificateManagementPolicyInput } from './certificate-policy.ts';

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
const resolvesTo = {
  type: [DomainResolutionInput] as [typeof DomainResolutionInput],
  description: 'Where its name is to lead: left out, or one place, `global`.',
};

const certificateHelp =
  'The id of a TLS certificate of your account that covers the domain, to be shown to its visitors. Below the gateway’s ' +
  'own base domain there can be none.';

export const CreateReservedDomainInput = builder.inputType('CreateReservedDomainInput', {
  description: 'A new reserved domain.',
  fields: (t) => ({
    domain: t.string({
      required: true,
      description:
        'A full name such as `app.example.com`, or a wildcard such as `*.example.com`, which stands for every name ' +
        'below `example.com`. It must end in a public top-level domain, or lie below the gateway’s own base domain.',
    }),
    region: t.string({ description: 'Shown as it is given: letters, digits and hyphens, at most 64 bytes.' }),
    ...newNotes(t, NOTES),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicyInput,
      description: 'How its certificate is to be obtained. Below the gateway’s own base domain it must be left out.',
    }),
    certificateId: t.id({ description: `${certificateHelp} Without, it is obtained by a policy.` }),
    resolvesTo: t.field(resolvesTo),
  }),
});

export const UpdateReservedDomainInput = builder.inputType('UpdateReservedDomainInput', {
  description: 'What to change; a member left out or null stays as it is. The domain and its region stay for good.',
  fields: (t) => ({
    ...changedNotes(t),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicyInput,
      description:
        'How its certificate is to be obtained, in place of one that was uploaded. Members left out stay as they are; ' +
        '"" is the default.',
    }),
    certificateId: t.id({
      description: `${certificateHelp} It takes the place of the policy. "" has the certificate obtained by a policy again.`,
    }),
    resolvesTo: t.field(resolvesTo),
  }),
});

/** @throws {ApiError} when a domain is to lead anywhere else. */
export function checkResolution(places: readonly Resolution[] | null | undefined): void {
  checkEach(places ?? [], ({ value }, index) => {
    if (value !== EVERYWHERE.value) throw new ApiError('domainResolution', { member: `resolvesTo[${index}].value` });
  });
}
