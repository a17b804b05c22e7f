// Creates or edits a weighted backend: other backends, each with its weight and the share of the visits that this makes.

import { useMemo } from 'preact/hooks';
import { CreateWeightedBackend, UpdateWeightedBackend } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { NumberInput, numberProblem } from '../../../ui/forms/number-field.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { ReferenceListField } from '../references/reference-field.tsx';
import { backendReference, useReferenceTitles } from '../references/references.ts';
import { MemberForm } from './member-form.tsx';
import { useMemberTunnels } from './member-tunnels.tsx';
import { MEMBERS_MAX } from './members-max.ts';

const WEIGHT = { min: 0, max: 10_000 };
/** The weight of a backend that is added. */
const FIRST_WEIGHT = 100;

interface Member {
  id: string;
  /** As in a `NumberInput`. */
  weight: number | null;
}

interface WeightedFormProps extends ObjectFormCallers {
  backend?: { id: string; description: string; metadata: string; weights: Readonly<Record<string, number>> };
}

export function WeightedForm({ backend, ...callers }: WeightedFormProps) {
  const members: readonly Member[] = Object.entries(backend?.weights ?? {}).map(([id, weight]) => ({ id, weight }));
  const titleOf = useReferenceTitles(members.map(({ id }) => id));
  const fields = useFormFields(
    { backends: members, description: backend?.description ?? '', metadata: backend?.metadata ?? '' },
    {
      draft: `weighted backend ${backend?.id ?? 'new'}`,
      kind: backend && 'weightedBackend',
      words: {
        backends: {
          label: 'Backends',
          describe: (some) => some.map(({ id, weight }) => `${titleOf(id)}: ${weight ?? 'no weight'}`).join('\n'),
        },
      },
    },
  );
  const { backends, ...texts } = fields.values;
  // An error of the API stays until this value is another one.
  const ids = useMemo(() => backends.map(({ id }) => id), [backends]);
  const tunnelsOf = useMemberTunnels(ids);
  const weightOf = (id: string) => backends.find((member) => member.id === id)?.weight ?? null;
  const setMembers = (next: readonly Member[]) => fields.set({ backends: next });
  const toInput = () => ({
    ...texts,
    backends: Object.fromEntries(backends.map(({ id, weight }) => [id, weight ?? 0])),
  });

  return (
    <ObjectForm
      {...callers}
      noun="weighted backend"
      id={backend?.id}
      create={CreateWeightedBackend}
      update={UpdateWeightedBackend}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
    >
      <ReferenceListField
        name="backends"
        label="Backends"
        value={ids}
        onChange={(next) =>
          setMembers(next.map((id) => backends.find((member) => member.id === id) ?? { id, weight: FIRST_WEIGHT }))
        }
        validate={() => weightsProblem(backends)}
        type={backendReference}
        form={MemberForm}
        maxItems={MEMBERS_MAX}
        except={backend?.id}
        besides={(id, title) => (
          <>
            {tunnelsOf(id)}
            <span class="with-unit">
              <span class="unit" aria-hidden="true">
                Weight
              </span>
              <NumberInput
                aria-label={`Weight of ${title}`}
                aria-invalid={numberProblem(weightOf(id), WEIGHT) !== null || undefined}
                value={weightOf(id)}
                onChange={(weight) =>
                  setMembers(backends.map((member) => (member.id === id ? { id, weight } : member)))
                }
              />
              <span class="unit share">{shareOf(weightOf(id), backends)}</span>
            </span>
          </>
        )}
        help="Each has a weight from 0, which is never chosen, to 10000. Backends that are offline leave their share to the others."
      />
      {backends.length > 0 && backends.every(({ weight }) => weight === 0) && (
        <Note variant="warn">Every weight is 0, so none is ever chosen: visitors would get an error.</Note>
      )}
      <MetadataFields bind={fields.bind} />
    </ObjectForm>
  );
}

function weightsProblem(members: readonly Member[]): string | null {
  const problems = members.map(({ weight }) => numberProblem(weight, WEIGHT));
  const first = problems.findIndex((problem) => problem !== null);
  return first < 0 ? null : `The weight of number ${first + 1}: ${problems[first]}`;
}

/** `33.3 %`, of all visits while every backend is online. */
function shareOf(weight: number | null, members: readonly Member[]): string {
  const isValid = (value: number | null): value is number => numberProblem(value, WEIGHT) === null;
  const total = members.reduce((sum, member) => sum + (isValid(member.weight) ? member.weight : 0), 0);
  if (!isValid(weight) || total === 0) return '–';
  const percent = (weight / total) * 100;
  return percent > 0 && percent < 0.1 ? '< 0.1 %' : `${Math.round(percent * 10) / 10} %`;
}
