// The forms of all modules in the schema. The compiler reports a module that has none.

import { unsetOperations } from '../../../generated/operations.ts';
import { AnyBackendForm } from '../backends/any-form.tsx';
import { backendReference } from '../references/references.ts';
import { referenceField, referenceIds } from './field-kinds.tsx';
import { accessForms } from './forms/access.tsx';
import { signInForms } from './forms/sign-in.ts';
import { trafficForms } from './forms/traffic.tsx';
import type { HostKind } from './hosts.ts';
import type { Module, ModuleForm } from './module-form.ts';

type UnsetOperations = typeof unsetOperations;
/** The fields of edges and routes that are modules. */
type ModuleName = { [Kind in HostKind]: keyof UnsetOperations[Kind] }[HostKind];

/** In the order of the pages: routing, access control, changes of the traffic. */
const forms: Record<string, ModuleForm> = {
  backend: {
    title: 'Backend',
    noun: 'backend',
    description:
      'Where the traffic goes: to every live tunnel that has the labels of a tunnel group, or wherever another backend leads.',
    fields: [
      referenceField('backendId', {
        label: 'Backend',
        type: backendReference,
        form: AnyBackendForm,
        shownAs: 'backend',
        help: 'Agents need not be there yet.',
      }),
    ],
    references: ({ backend }) => referenceIds(backend),
  },
  ...accessForms,
  ...signInForms,
  ...trafficForms,
} satisfies Record<ModuleName, ModuleForm>;

const modulesByHost = new Map<HostKind, readonly Module[]>();

/** The modules of a kind of edge or route. */
export function modulesForHost(kind: HostKind): readonly Module[] {
  const known = modulesByHost.get(kind) ?? formsFor(kind);
  modulesByHost.set(kind, known);
  return known;
}

function formsFor(kind: HostKind): Module[] {
  return Object.entries(forms)
    .filter(([field]) => field in unsetOperations[kind])
    .map(([field, form]) => ({ ...form, ...form.on?.[kind], field }));
}
