import { Tag } from '../../ui/feedback/tag.tsx';

/** Labels, each in a frame. */
export function LabelTags({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return <span class="muted">no labels</span>;
  return (
    <span class="label-tags">
      {entries.map(([key, value]) => (
        <Tag key={key}>
          {key}={value}
        </Tag>
      ))}
    </span>
  );
}
