import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Breadcrumb {
  title: string;
  href: string;
}

export interface PageProps {
  title: string;
  /** What stands beside the title when it isn't text alone, as a dot. */
  badge?: ComponentChildren;
  /** The places above this one, the outermost first. */
  crumbs?: readonly Breadcrumb[];
  /** Buttons for the whole page. */
  actions?: ComponentChildren;
  /** A line below the title. */
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

/** The first page is come to by the browser itself, which says its title. */
let isFirstPage = true;

/** One screen: its title, what can be done with all of it, and its content. */
export function Page({ title, badge, crumbs = [], actions, lead, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Tunnel Gateway`;
  }, [title]);
  // Whoever can't see that another page came hears it, and goes on from its top.
  useEffect(() => {
    if (!isFirstPage && !document.querySelector('dialog[open]')) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <div class="page">
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Where this is">
          <ol>
            {crumbs.map((crumb) => (
              <li key={crumb.href}>
                <a href={crumb.href}>{crumb.title}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}

export interface SectionProps {
  title: string;
  actions?: ComponentChildren;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

/** A part of a page with a title of its own. */
export function Section({ title, actions, lead, children }: SectionProps) {
  return (
    <section class="section">
      <header class="section-head">
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}
