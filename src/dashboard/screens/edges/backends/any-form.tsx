// Creates a backend of any kind, in the dialog of a form that refers to it.

import type { ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { FailoverForm } from './failover-form.tsx';
import { type BackendKindForm, KindChoice } from './kind-choice.tsx';
import { leafForms } from './member-form.tsx';
import { WeightedForm } from './weighted-form.tsx';

const kinds: readonly [BackendKindForm, ...BackendKindForm[]] = [
  ...leafForms,
  { title: 'Weighted: to one of other backends, by weight', form: WeightedForm },
  { title: 'Failover: to the first of other backends that is online', form: FailoverForm },
];

export function AnyBackendForm(callers: ObjectFormCallers) {
  return <KindChoice kinds={kinds} {...callers} />;
}
