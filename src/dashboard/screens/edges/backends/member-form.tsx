// Creates a backend that leads to no other, in the dialog of a form that refers to it.

import type { ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { BackendForm } from './form.tsx';
import { type BackendKindForm, KindChoice } from './kind-choice.tsx';
import { ResponseForm } from './response-form.tsx';
import { StaticForm } from './static-form.tsx';

export const leafForms: readonly [BackendKindForm, ...BackendKindForm[]] = [
  { title: 'Tunnel group: every live tunnel that has certain labels', form: BackendForm },
  { title: 'HTTP response: the gateway answers by itself', form: ResponseForm },
  { title: 'Static: a host and a port that the gateway connects to', form: StaticForm },
];

export function MemberForm(callers: ObjectFormCallers) {
  return <KindChoice kinds={leafForms} {...callers} />;
}
