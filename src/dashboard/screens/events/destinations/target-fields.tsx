// Where events are sent: the kind of target, and what that kind asks for.

import { Button } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { asksForProof, membersOf, nameOf, type TargetChoice } from './target-values.ts';
import { checkOf, factsOf, type Kind, kindNames, type Member, type Proof, proofs } from './targets.ts';

interface TargetFieldsProps {
  choice: TargetChoice;
  onChange: (choice: TargetChoice) => void;
  /** The target that is there already: its secrets stay unless others are typed. */
  known?: TargetChoice;
}

const kindOptions = kindNames.map((kind) => ({ value: kind, title: factsOf(kind).title }));

export function TargetFields({ choice, onChange, known }: TargetFieldsProps) {
  const { kind, proof, values } = choice;
  const isKept = ({ isSecret }: Member) => Boolean(isSecret && known?.kind === kind && known.proof === proof);
  const put = (name: string, value: string) => onChange({ ...choice, values: { ...values, [name]: value } });
  return (
    <>
      <SelectField
        name="kind"
        label="Where events are sent"
        value={kind}
        options={kindOptions}
        onChange={(value) => onChange({ ...choice, kind: value as Kind })}
      />
      {asksForProof(kind) && (
        <SelectField
          name="proof"
          label="How the gateway proves itself to AWS"
          value={proof}
          options={proofs}
          onChange={(value) => onChange({ ...choice, proof: value as Proof })}
        />
      )}
      {membersOf(choice).map((member) => {
        const name = nameOf(kind, member);
        const field = {
          name,
          label: member.isOptional ? `${member.label} (may be left empty)` : member.label,
          value: values[name] ?? '',
          onChange: (value: string) => put(name, value),
          validate: checkOf(member, isKept(member)),
          isCode: true,
        };
        const { made } = member;
        if (member.isList)
          return <TextArea key={name} {...field} rows={3} placeholder={member.placeholder} help={member.help} />;
        return (
          <div key={name} class="target-member">
            <TextField
              {...field}
              type={member.isSecret ? 'password' : 'text'}
              autoComplete={member.isSecret ? 'new-password' : 'off'}
              placeholder={isKept(member) ? 'stays as it is' : member.placeholder}
              help={member.isSecret ? secretHelp(member, isKept(member)) : member.help}
            />
            {made && <Button onClick={() => put(name, made.make())}>Make a new secret</Button>}
          </div>
        );
      })}
    </>
  );
}

function secretHelp({ help }: Member, isKept: boolean): string {
  const kept = isKept
    ? 'Left empty it stays as it is, unless the target leads somewhere else.'
    : 'Nobody can read it here afterwards.';
  return help ? `${help} ${kept}` : kept;
}
