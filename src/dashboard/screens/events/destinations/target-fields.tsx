// The fields for the target of a destination: its kind, and the members of that kind.

import { Button } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { fieldName, hasAwsAuth, type TargetFormState, visibleMembers } from './target-values.ts';
import {
  type AwsAuth,
  awsAuthOptions,
  memberValidator,
  type TargetKind,
  type TargetMember,
  targetKindForm,
  targetKindNames,
} from './targets.ts';

interface TargetFieldsProps extends FieldBinding<TargetFormState> {
  /** The stored target. Its secrets stay unless others are typed. */
  storedTarget?: TargetFormState;
}

const kindOptions = targetKindNames.map((kind) => ({ value: kind, title: targetKindForm(kind).title }));

export function TargetFields({ value: formState, onChange, storedTarget }: TargetFieldsProps) {
  const { kind, awsAuth, values } = formState;
  const hasStoredSecret = ({ isSecret }: TargetMember) =>
    Boolean(isSecret && storedTarget?.kind === kind && storedTarget.awsAuth === awsAuth);
  const setValue = (name: string, value: string) => onChange({ ...formState, values: { ...values, [name]: value } });
  return (
    <>
      <SelectField
        name="kind"
        label="Where events are sent"
        value={kind}
        options={kindOptions}
        onChange={(value) => onChange({ ...formState, kind: value as TargetKind })}
      />
      {hasAwsAuth(kind) && (
        <SelectField
          name="proof"
          label="How the gateway proves itself to AWS"
          value={awsAuth}
          options={awsAuthOptions}
          onChange={(value) => onChange({ ...formState, awsAuth: value as AwsAuth })}
        />
      )}
      {visibleMembers(formState).map((member) => {
        const name = fieldName(kind, member);
        const field = {
          name,
          label: member.isOptional ? `${member.label} (may be left empty)` : member.label,
          value: values[name] ?? '',
          onChange: (value: string) => setValue(name, value),
          validate: memberValidator(member, hasStoredSecret(member)),
          isCode: true,
        };
        const { generator } = member;
        if (member.isList)
          return <TextArea key={name} {...field} rows={3} placeholder={member.placeholder} help={member.help} />;
        return (
          <div key={name} class="target-member">
            <TextField
              {...field}
              type={member.isSecret ? 'password' : 'text'}
              autoComplete={member.isSecret ? 'new-password' : 'off'}
              placeholder={hasStoredSecret(member) ? 'stays as it is' : member.placeholder}
              help={member.isSecret ? secretHelp(member, hasStoredSecret(member)) : member.help}
            />
            {generator && <Button onClick={() => setValue(name, generator.generate())}>Make a new secret</Button>}
          </div>
        );
      })}
    </>
  );
}

function secretHelp({ help }: TargetMember, hasStoredSecret: boolean): string {
  const kept = hasStoredSecret
    ? 'Left empty it stays as it is, unless the target leads somewhere else.'
    : 'Nobody can read it here afterwards.';
  return help ? `${help} ${kept}` : kept;
}
