import type { ComponentChildren } from 'preact';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { type Filter, statusFilters } from './filter.ts';

export interface FilterBarProps {
  filter: Filter;
  onChange: (some: Partial<Filter>) => void;
  /** The number of requests that match, and of all requests. */
  shown: number;
  all: number;
  /** Buttons beside the filter. */
  children?: ComponentChildren;
}

const OPTIONS = Object.entries(statusFilters).map(([value, { title }]) => ({ value, title }));

export function FilterBar({ filter, onChange, shown, all, children }: FilterBarProps) {
  return (
    <search class="filter-bar">
      <TextField
        type="search"
        name="text"
        label="Text"
        placeholder="method, path, visitor"
        value={filter.text}
        onChange={(text) => onChange({ text })}
      />
      <SelectField
        name="status"
        label="Status"
        options={OPTIONS}
        value={filter.status}
        onChange={(status) => onChange({ status })}
      />
      <p class="muted" role="status">
        {shown < all ? `${shown} of ${all}` : ''}
      </p>
      <div class="actions">{children}</div>
    </search>
  );
}
