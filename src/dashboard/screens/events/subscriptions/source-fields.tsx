// The fields for one type of traffic event: share, filter and fields.

import { useFieldError } from '../../../ui/forms/form-context.ts';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextArea } from '../../../ui/forms/text-field.tsx';
import { maxBytes } from '../../../ui/forms/validators.ts';
import { type EventType, isFieldSelected, type Source, type Sources, sourceFieldName, toggleField } from './sources.ts';

const FILTER_MAX_BYTES = 4096;
const FIELDS_MAX = 100;

interface SourceFieldsProps {
  type: EventType;
  source: Source;
  /** All sources. The API names a source in its errors by its position in the input. */
  sources: Sources;
  onChange: (some: Partial<Source>) => void;
}

export function SourceFields({ type, source, sources, onChange }: SourceFieldsProps) {
  const member = (name: 'fields' | 'filter' | 'sampleRate') => sourceFieldName(sources, type.name, name);
  return (
    <div class="source">
      <NumberField
        name={member('sampleRate')}
        label="Share that is delivered"
        help="Chosen at random. 100 % is all of them."
        value={source.share}
        onChange={(share) => onChange({ share })}
        unit="%"
        max={100}
        isDecimal
        validate={(share) => (share !== null && share > 0 ? null : 'This must be above 0.')}
      />
      <TextArea
        name={member('filter')}
        label={`Filter of ${type.name}`}
        help={
          <>
            Only events for which this expression (CEL) holds, as{' '}
            <code>
              {type.name.startsWith('http') ? 'ev.http.response.status_code >= 500' : 'ev.conn.server_port == 22'}
            </code>
            . Empty: all of them.
          </>
        }
        value={source.filter}
        onChange={(filter) => onChange({ filter })}
        rows={2}
        validate={maxBytes(FILTER_MAX_BYTES)}
        isCode
      />
      <FieldCheckboxes
        type={type}
        name={member('fields')}
        fields={source.fields}
        onChange={(fields) => onChange({ fields })}
      />
    </div>
  );
}

interface FieldCheckboxesProps {
  type: EventType;
  name: string;
  fields: readonly string[];
  onChange: (fields: readonly string[]) => void;
}

function FieldCheckboxes({ type, name, fields, onChange }: FieldCheckboxesProps) {
  const all = type.fields.map((field) => field.name);
  const count = all.filter((field) => isFieldSelected(fields, field)).length;
  const { fieldError } = useFieldError(name, fields, (names) =>
    names.length > FIELDS_MAX ? `At most ${FIELDS_MAX} can be chosen.` : null,
  );
  return (
    <details>
      <summary>{fields.length === 0 ? `All ${all.length} fields` : `${count} of ${all.length} fields`}</summary>
      <p class="help">What of each event is delivered. Without a field that is left out, filters still see it.</p>
      <div class="source-fields">
        {type.fields.map((field) => (
          <label key={field.name} class="event-check" title={field.description}>
            <input
              type="checkbox"
              checked={fields.length === 0 || isFieldSelected(fields, field.name)}
              onChange={() => onChange(toggleField(fields, field.name, all))}
            />
            <code>{field.name}</code>
          </label>
        ))}
      </div>
      {fieldError && (
        <p class="field-error" role="alert">
          {fieldError}
        </p>
      )}
    </details>
  );
}
