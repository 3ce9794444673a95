// Problems that need a person's attention, each with one sentence and one cure.

import { tr } from './language.js';
import { reason, youCan } from './words.js';
import { nameOf } from './model.js';

const preferences = { href: '/preferences', title: tr('Preferences') };

// The pages where problems of a kind can be solved.
const pages = {
  disk: preferences, no_effect: preferences, no_work_wanted: { href: '/projects', title: tr('Projects') }, late: { href: '/tasks?show=late', title: tr('late tasks') },
};

// attention returns the problems, as {kind, key, text, cure, link}. The agent has decided about them.
export function attention(m) {
  return (m.status.problems ?? []).map((x) => {
    const task = x.task && m.tasks.find((t) => t.name === x.task && t.project === x.project);
    const project = !x.task && x.project && m.projects.find((p) => p.master_url === x.project);
    const link = task ? { href: taskLink(task), title: tr('task') } : project ? { href: projectLink(project), title: nameOf(project) } : pages[x.kind];
    return { ...x, link };
  });
}

// notes returns why the agent does not do more, where nothing is wrong.
export function notes(m) {
  const all = [];
  const can = (cure) => (cure ? ` ${youCan(cure)}` : '');
  if (m.compute.why) all.push({ key: 'compute', text: reason(m.compute.why, m.compute.until) + can(m.compute.cure) });
  if (m.network.why) all.push({ key: 'network', text: reason(`${tr('Network activity is suspended.')} ${m.network.why}`, m.network.until) + can(m.network.cure) });
  for (const x of m.transfers) {
    if (x.trouble && !x.active && !all.some((o) => o.key === x.trouble)) all.push({ key: x.trouble, text: `${tr('{file} has to wait.', { file: x.name })} ${x.trouble}${can(x.trouble_cure)}` });
  }
  for (const p of m.projects) {
    const w = work(m, p);
    // The problems are listed already, and an ordinary pause is not one.
    if (w && p.work_code !== p.trouble_code && p.work_code !== 'tasks_fail' && p.work_code !== 'request_delay') all.push({ key: p.master_url, text: `${nameOf(p)}: ${w}${can(p.work_cure)}` });
  }
  return all;
}

// work returns the decision about asking a project for work.
export function work(m, p) {
  const plan = m.plans[p.master_url];
  return plan?.fetch.text === p.work ? reason(p.work, plan.fetch.until) : p.work;
}

export const taskLink = (t) => `/tasks?task=${encodeURIComponent(t.key)}`;
export const projectLink = (p) => `/projects?project=${encodeURIComponent(p.master_url)}`;
