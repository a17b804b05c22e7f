// The form that creates an object or changes it: the same fields, with the mutation that fits.

import type { ComponentChildren } from 'preact';
import type { Operation } from '../../data/client/operation.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { Form } from './form.tsx';
import type { FormState } from './use-form-fields.ts';

/** The result of a mutation that writes one object: the one member of its payload that is asked for has the id. */
type WrittenObject = Readonly<Record<string, Readonly<Record<string, { id: string }>> | null>>;

/** What the form of an object needs to know from whoever shows it. */
export interface ObjectFormCallers {
  /** Called with the id, once it is stored. */
  onDone: (id: string) => void;
  onCancel: () => void;
}

interface ObjectFormProps<CreateInput, UpdateInput> extends ObjectFormCallers {
  /** The name of its kind within a sentence: `vault`. */
  noun: string;
  /** The object that is changed; undefined creates one. */
  id: string | undefined;
  create: Operation<WrittenObject, { input: CreateInput }>;
  update: Operation<WrittenObject, { id: string; input: UpdateInput }>;
  /** What is sent, of the values in the fields. */
  toCreate: () => CreateInput;
  toUpdate: () => UpdateInput;
  fields: FormState & { saved: () => void };
  children: ComponentChildren;
}

export function ObjectForm<CreateInput, UpdateInput>(props: ObjectFormProps<CreateInput, UpdateInput>) {
  const { noun, id, fields, onDone, onCancel, toCreate, toUpdate, children } = props;
  const create = useMutation(props.create);
  const update = useMutation(props.update);

  async function submit() {
    const result =
      id === undefined ? await create.mutate({ input: toCreate() }) : await update.mutate({ id, input: toUpdate() });
    const [payload] = Object.values(result ?? {});
    const [written] = Object.values(payload ?? {});
    if (!written) return;
    fields.saved();
    onDone(written.id);
  }

  return (
    <Form
      submitLabel={id === undefined ? `Create the ${noun}` : 'Save'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      {children}
    </Form>
  );
}
