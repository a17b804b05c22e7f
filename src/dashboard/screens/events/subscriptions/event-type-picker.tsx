// Selects the types of events that a subscription delivers.

import { Button } from '../../../ui/button.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { SourceFields } from './source-fields.tsx';
import { type EventType, groupEventTypes, type Source, type Sources, withTypesSelected } from './sources.ts';

interface EventTypePickerProps extends FieldBinding<Sources> {
  types: readonly EventType[];
}

export function EventTypePicker({ types, value: sources, onChange }: EventTypePickerProps) {
  const { traffic, others, changes } = groupEventTypes(types);
  const selectTypes = (names: readonly string[], isChosen: boolean) =>
    onChange(withTypesSelected(sources, names, isChosen));
  const changeNames = changes.flatMap((object) => object.types.map(({ type }) => type.name));
  const areAll = changeNames.every((name) => sources[name]);
  return (
    <div class="catalogue">
      <fieldset>
        <legend>Traffic: single requests and connections</legend>
        {traffic.map((type) => {
          const source = sources[type.name];
          return (
            <div key={type.name}>
              <EventTypeCheckbox type={type} isChosen={Boolean(source)} choose={selectTypes} />
              {source && (
                <SourceFields
                  type={type}
                  source={source}
                  sources={sources}
                  onChange={(some: Partial<Source>) => onChange({ ...sources, [type.name]: { ...source, ...some } })}
                />
              )}
            </div>
          );
        })}
      </fieldset>
      <fieldset>
        <legend>What comes and goes</legend>
        {others.map((type) => (
          <EventTypeCheckbox key={type.name} type={type} isChosen={Boolean(sources[type.name])} choose={selectTypes} />
        ))}
      </fieldset>
      <fieldset>
        <legend>Who changed what</legend>
        <Button onClick={() => selectTypes(changeNames, !areAll)}>{areAll ? 'None of them' : 'All of them'}</Button>
        {changes.map(({ object, types: ofObject }) => (
          <div key={object} class="changes">
            <span>{object}</span>
            {ofObject.map(({ type, action }) => (
              <label key={type.name} class="event-check" title={type.name}>
                <input
                  type="checkbox"
                  checked={Boolean(sources[type.name])}
                  aria-label={`${object} ${action}`}
                  onChange={(event) => selectTypes([type.name], event.currentTarget.checked)}
                />
                {action}
              </label>
            ))}
          </div>
        ))}
      </fieldset>
    </div>
  );
}

interface EventTypeCheckboxProps {
  type: EventType;
  isChosen: boolean;
  choose: (names: readonly string[], isChosen: boolean) => void;
}

function EventTypeCheckbox({ type: { name, description }, isChosen, choose }: EventTypeCheckboxProps) {
  return (
    <label class="event-check">
      <input type="checkbox" checked={isChosen} onChange={(event) => choose([name], event.currentTarget.checked)} />
      <span>
        <code>{name}</code> <span class="muted">{description}</span>
      </span>
    </label>
  );
}
